/** What the Engine's error sentences mean, and what to do about each. */

export type DaemonErrorKind =
  | 'TOOLKIT_MISSING'
  | 'CDI_DEVICE_MISSING'
  | 'RUNTIME_MISSING'
  | 'RUNTIME_WITHOUT_NETWORK'
  | 'BAD_DEVICE_REQUEST'
  | 'LOGIN_NEEDED'
  | 'NO_SUCH_TAG'
  | 'NO_SUCH_PLATFORM'
  | 'NO_SUCH_IMAGE'
  | 'RATE_LIMIT'
  | 'REGISTRY_UNREACHABLE'
  | 'NO_SPACE'
  | 'NAME_TAKEN'
  | 'NO_SUCH_CONTAINER'
  | 'RUNS_UNSEEN'
  | 'PROGRAM_NOT_FOUND'
  | 'PROGRAM_NOT_EXECUTABLE'
  | 'FOLDER_MISSING'
  | 'FOLDER_DENIED'
  | 'LIMIT_TOO_LOW'
  | 'INIT_MISSING'
  | 'OTHER';

export interface DaemonError {
  readonly kind: DaemonErrorKind;
  /** The daemon's own sentence without its prefix. */
  readonly said: string;
  /** What to do; null when the sentence says all there is. */
  readonly advice: string | null;
}

const toolkit =
  'Install the NVIDIA container toolkit on this machine, run nvidia-ctk runtime configure --runtime=docker and restart Docker.';

/** In order: the first that fits counts. */
const rules: readonly (readonly [RegExp, DaemonErrorKind, string | null])[] = [
  [/could not select device driver .* with capabilities: \[\[gpu/i, 'TOOLKIT_MISSING', toolkit],
  [
    /nvidia-container-cli|nvidia-container-runtime|unknown or invalid runtime name: nvidia|unknown runtime specified nvidia/i,
    'TOOLKIT_MISSING',
    toolkit,
  ],
  [
    /unresolvable CDI devices|CDI device injection failed/i,
    'CDI_DEVICE_MISSING',
    'Describe its cards to Docker anew: run sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml on this machine.',
  ],
  [
    /docker-init|exec: "docker-init"|container-init binary not found/i,
    'INIT_MISSING',
    'Install the package tini (docker-init; for Podman: catatonit) on this machine.',
  ],
  [
    /unknown(?: or invalid)? runtime (?:specified|name)/i,
    'RUNTIME_MISSING',
    'Add the runtime to /etc/docker/daemon.json on this machine and restart Docker.',
  ],
  [
    /cannot run with network enabled in root network namespace/i,
    'RUNTIME_WITHOUT_NETWORK',
    'Tasks use the network of the machine: give runsc "runtimeArgs": ["--network=host"] in /etc/docker/daemon.json there and restart Docker.',
  ],
  [
    /cannot set both Count and DeviceIDs/i,
    'BAD_DEVICE_REQUEST',
    'Name the devices or say how many, not both.',
  ],
  [
    /toomanyrequests|rate limit/i,
    'RATE_LIMIT',
    'Wait, or log in to the registry (docker login) to be allowed more.',
  ],
  [
    /no match(?:ing manifest)? for (?:platform|linux|windows)/i,
    'NO_SUCH_PLATFORM',
    "It was not built for this machine's kind of processor: name one that was.",
  ],
  [
    /manifest unknown|manifest for .* not found|not found: manifest|: not found$/i,
    'NO_SUCH_TAG',
    'Check the name and the tag.',
  ],
  [
    /unauthorized|authentication required|no basic auth credentials|access (?:to the resource is )?denied|denied: requested/i,
    'LOGIN_NEEDED',
    'Log in to the registry on this machine with docker login, and check the name.',
  ],
  [/no such image/i, 'NO_SUCH_IMAGE', 'Pull the image first, or let the job pull it (--pull missing).'],
  [
    /no space left on device|disk quota exceeded/i,
    'NO_SPACE',
    'Make room where Docker keeps its data (docker system df shows what takes it).',
  ],
  [/is already in use by container/i, 'NAME_TAKEN', null],
  [
    /^id already in use$|task \S*\b[0-9a-f]{64}\S*:? already exists/i,
    'RUNS_UNSEEN',
    'What it began of the container before it was restarted runs on, and it does not know of that.',
  ],
  [/no such container/i, 'NO_SUCH_CONTAINER', null],
  [
    /bind source path does not exist|invalid mount config .* does not exist/i,
    'FOLDER_MISSING',
    'Create the folder on the machine, or name another.',
  ],
  [
    /invalid mount config .* permission denied|error mounting [\\"]*\/.* permission denied/i,
    'FOLDER_DENIED',
    'Docker itself may not look into that folder, as in a home of a network that gives root no rights: name a folder it may read, use rootless Docker, or run the job without an image.',
  ],
  [
    /executable file not found in|stat .*: no such file or directory: unknown|exec: .*: no such file or directory/i,
    'PROGRAM_NOT_FOUND',
    'The program has to be in the image; check its name.',
  ],
  [
    /exec.*permission denied|exec format error/i,
    'PROGRAM_NOT_EXECUTABLE',
    'The program in the image cannot be run: check its mode and for which processor it was built.',
  ],
  [/minimum memory limit/i, 'LIMIT_TOO_LOW', 'Ask for more memory (--memory).'],
  [
    /dial tcp|i\/o timeout|no such host|connection refused|TLS handshake timeout|context deadline exceeded|network is unreachable/i,
    'REGISTRY_UNREACHABLE',
    'Check the network of this machine and the name of the registry.',
  ],
];

export function readDaemonError(text: string): DaemonError {
  const said = text
    .trim()
    .replace(/^docker: /, '')
    .replace(/^Error response from daemon: /, '')
    .replace(/^\(HTTP code \d+\) [a-z ]+ - /, '')
    .trim();
  for (const [pattern, kind, advice] of rules) if (pattern.test(said)) return { kind, said, advice };
  return { kind: 'OTHER', said, advice: null };
}

/** One sentence or two: what the daemon said, and what to do. */
export function daemonSentence({ said, advice }: DaemonError): string {
  const ended = /[.!?]$/.test(said) ? said : `${said}.`;
  return advice === null ? ended : `${ended} ${advice}`;
}

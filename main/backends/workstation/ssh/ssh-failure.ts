/** What an ended SSH client's words mean and what can be done about it. Pure. */

export type SshFailureKind =
  /** Nothing answers: off, or not on this network. */
  | 'silent'
  /** Somebody is there and takes no SSH connections. */
  | 'refused'
  | 'unknown-name'
  | 'unknown-key'
  | 'changed-key'
  | 'login'
  /** No Perl there, or a login shell that runs no commands. */
  | 'shell'
  | 'client'
  | 'cut'
  | 'other';

export interface SshFailure {
  readonly kind: SshFailureKind;
  /** One sentence. */
  readonly message: string;
  readonly advice: string;
  /** It may be over by itself. */
  readonly isPassing?: true;
  /** Something had to be answered: nobody was there for it, or it was refused, and so is not asked again by itself. */
  readonly unanswered?: 'nobody' | 'refused';
}

interface Rule {
  readonly kind: SshFailureKind;
  readonly pattern: RegExp;
  readonly message: (host: string) => string;
  readonly advice: (host: string) => string;
  readonly isPassing?: true;
}

/** The first that fits. */
const rules: readonly Rule[] = [
  {
    kind: 'changed-key',
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|host key for .* has changed|differs from the key for/i,
    message: (host) => `${host} shows another host key than the one that is known of it.`,
    advice: () =>
      'It may have been set up anew, or be another machine at the same address. Ask whoever looks after it, compare the fingerprint, and accept the key only if it is right.',
  },
  {
    kind: 'unknown-key',
    pattern: /Host key verification failed|No .* host key is known for/i,
    message: (host) => `The host key of ${host} is not known here.`,
    advice: () =>
      "Compare its fingerprint with the machine's own (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub there), then accept it.",
  },
  {
    kind: 'login',
    pattern: /Permission denied|Too many authentication failures|no more authentication methods/i,
    message: (host) => `${host} does not let this user in without a question.`,
    advice: (host) =>
      `Set up a key once: ssh-copy-id ${host}. A key with a passphrase must be in the agent (ssh-add).`,
  },
  {
    kind: 'unknown-name',
    pattern: /Could not resolve hostname|Name or service not known|nodename nor servname/i,
    message: (host) => `There is no machine named ${host}.`,
    advice: () => 'Check the name, or give its address; an alias must be in ~/.ssh/config.',
  },
  {
    kind: 'refused',
    pattern: /Connection refused/i,
    message: (host) => `${host} is there but takes no SSH connections.`,
    advice: () => 'Is its SSH server installed and running (systemctl status ssh), and the port right?',
  },
  {
    kind: 'silent',
    pattern: /timed out|timeout|No route to host|Network is unreachable|Host is down|Operation timed out/i,
    message: (host) => `Nothing answers at ${host}.`,
    advice: () => 'Is it on and connected to this network?',
    isPassing: true,
  },
  {
    kind: 'client',
    pattern:
      /Bad configuration option|Bad owner or permissions|terminating, \d+ bad configuration|unknown option|usage: ssh/i,
    message: () => 'The SSH client here refuses its own configuration.',
    advice: () => 'See what it says and mend ~/.ssh/config.',
  },
  {
    kind: 'cut',
    pattern:
      /closed by remote host|Connection reset|Broken pipe|Connection closed|kex_exchange_identification|not responding|Connection to .* closed/i,
    message: (host) => `The connection to ${host} was cut.`,
    advice: () => 'Is the network on the way there steady?',
    isPassing: true,
  },
];

/** Of a machine that is kept in contact with: what is only looked at, before it is added, is tried by nobody again. */
export function toldOfContact({ message, advice, isPassing }: SshFailure): string {
  const again = isPassing === true ? ' It is tried again by itself; tasks there go on meanwhile.' : '';
  return `${message} ${advice}${again}`;
}

/** The client itself gives up where nobody takes the connection: here somebody did, or something on the way. */
export function silentFailure(host: string, ms: number): SshFailure {
  return {
    kind: 'silent',
    message: `${host} gave no answer within ${Math.round(ms / 1000)} s.`,
    advice: `Does ssh ${host} true end soon? A login shell that reads a slow disk, or what the connection goes through, may hold it up.`,
    isPassing: true,
  };
}

/** It is not there, or cannot be started. */
export function clientFailure(program: string, why: string): SshFailure {
  return {
    kind: 'client',
    message: `The SSH client ${program} cannot be run: ${why}.`,
    advice: 'Install OpenSSH (apt install openssh-client).',
  };
}

/** `noise`: what came instead of our own words. */
export function sshFailure(host: string, code: number | null, stderr: string, noise: string): SshFailure {
  const said = lastLines(stderr);
  // With whatever exit code Perl then has.
  const module = /Can't locate ([\w/]+)\.pm in @INC/.exec(stderr)?.[1]?.replaceAll('/', '::');
  if (module !== undefined) {
    return {
      kind: 'shell',
      message: `Perl on ${host} lacks its module ${module}, which starting and watching tasks needs.`,
      advice: `Install it there (apt install perl, dnf install 'perl(${module})').`,
    };
  }
  if (code !== 255) {
    // 127 by convention, in whatever language the shell says it.
    const text = `${stderr} ${noise}`;
    if (
      /perl.*(not found|No such file)|Unknown command.*perl/is.test(text) ||
      (code === 127 && /\bperl\b/.test(text))
    ) {
      return {
        kind: 'shell',
        message: `There is no Perl on ${host}, which starting and watching tasks needs.`,
        advice: 'Install it there (apt install perl-base, dnf install perl-interpreter).',
      };
    }
    const heard = noise === '' ? said : noise.slice(0, 300);
    return {
      kind: 'shell',
      message: `The login shell on ${host} does not run commands${heard === '' ? '' : `; it says: ${heard}`}.`,
      advice: `Try: ssh ${host} true. It must end at once and print nothing.`,
    };
  }
  const rule = rules.find(({ pattern }) => pattern.test(stderr));
  if (rule === undefined) {
    const words = said === '' ? ' without a word' : `: ${said}`;
    return { kind: 'other', message: `The SSH client ended${words}.`, advice: `Try: ssh ${host} true.` };
  }
  const detail = rule.kind === 'changed-key' || said === '' ? '' : ` (${said})`;
  return {
    kind: rule.kind,
    message: `${rule.message(host).replace(/\.$/, '')}${detail}.`,
    advice: rule.advice(host),
    ...(rule.isPassing === true ? { isPassing: true } : {}),
  };
}

/** Its last line, without what every message ends with. */
function lastLines(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const telling = lines.filter((line) => !/^@+|^Warning: |^debug|^\*\*/.test(line));
  return (telling.at(-1) ?? '').replace(/\.$/, '').slice(0, 300);
}

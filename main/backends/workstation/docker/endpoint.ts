/** Where the Docker Engine is: what DOCKER_HOST says, else the user's docker context, else the sockets that are usual. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { z } from 'zod';

export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export type Endpoint =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls: TlsFiles | null }
  | { readonly kind: 'ssh'; readonly args: readonly string[]; readonly said: string }
  /** A way to the Engine that somebody else keeps open. */
  | {
      readonly kind: 'connector';
      readonly connect: () => Duplex;
      /** One that is always read at its far end, as `docker-exchange.pl` does; without it nothing is listened to. */
      readonly listen?: () => Duplex;
      readonly said: string;
    };

export type FoundEndpoint =
  | { readonly ok: true; readonly endpoint: Endpoint; readonly from: string }
  | { readonly ok: false; readonly absent: boolean; readonly message: string };

export interface EndpointSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly uid: number;
}

const defaultSocket = '/var/run/docker.sock';
const rootPodman = '/run/podman/podman.sock';

export function findEndpoint({ environment, home, uid }: EndpointSources): FoundEndpoint {
  const configFolder = configFolderOf(environment, home);
  const asked = setting(environment, 'DOCKER_HOST');
  if (asked !== undefined) {
    const verify = setting(environment, 'DOCKER_TLS_VERIFY') !== undefined;
    const certificates = setting(environment, 'DOCKER_CERT_PATH') ?? (verify ? configFolder : null);
    return readHost(asked, certificates, 'DOCKER_HOST');
  }
  const context = setting(environment, 'DOCKER_CONTEXT') ?? currentContext(configFolder);
  if (context !== null && context !== '' && context !== 'default') return readContext(configFolder, context);
  const runtimeFolder = setting(environment, 'XDG_RUNTIME_DIR') ?? `/run/user/${uid}`;
  const rootless = path.join(runtimeFolder, 'docker.sock');
  const places = [
    [defaultSocket, 'looked for there'],
    [rootless, 'looked for in XDG_RUNTIME_DIR'],
    [path.join(home, '.docker', 'run', 'docker.sock'), 'looked for in the home folder'],
  ] as const;
  for (const [file, from] of places) {
    if (existsSync(file) && mayUse(file)) return { ok: true, endpoint: { kind: 'socket', path: file }, from };
  }
  // One is there that may not be used: it says so when it is asked.
  const [first] = places.filter(([file]) => existsSync(file));
  if (first !== undefined) return { ok: true, endpoint: { kind: 'socket', path: first[0] }, from: first[1] };
  // It answers as Docker does, but is taken only from who asks for it.
  const podman = [path.join(runtimeFolder, 'podman', 'podman.sock'), rootPodman].find(mayUse);
  if (podman !== undefined) {
    const message = `No Docker Engine was found, but the socket of Podman is at ${podman}: to use it, set DOCKER_HOST=unix://${podman}.`;
    return { ok: false, absent: true, message };
  }
  return {
    ok: false,
    absent: true,
    message: `No Docker Engine was found: neither ${defaultSocket} nor ${rootless} is there. Install Docker, or set DOCKER_HOST to where it is.`,
  };
}

/** An empty one is none, as for Docker's own command. */
function setting(environment: EndpointSources['environment'], name: string): string | undefined {
  const value = environment[name];
  return value === '' ? undefined : value;
}

/** Where Docker's own command keeps what the user set. */
export function configFolderOf(environment: EndpointSources['environment'], home: string): string {
  return setting(environment, 'DOCKER_CONFIG') ?? path.join(home, '.docker');
}

/** A user's own Engine counts before the machine's that is not for that user. */
function mayUse(file: string): boolean {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function readHost(text: string, certificates: string | null, from: string): FoundEndpoint {
  const bad = (why: string): FoundEndpoint => ({
    ok: false,
    absent: false,
    message: `${from} is ${JSON.stringify(text)}, ${why}; expected unix:///path, tcp://host:port or ssh://[user@]host.`,
  });
  if (text.startsWith('unix://') || text.startsWith('/')) {
    const file = text.replace(/^unix:\/\//, '');
    return { ok: true, endpoint: { kind: 'socket', path: file === '' ? defaultSocket : file }, from };
  }
  const match = /^(tcp|https?|ssh):\/\/(?:([^@/]+)@)?(\[[^\]]+\]|[^:/]+)(?::(\d+))?\/?$/.exec(text);
  if (match === null) return bad('which is no address of an Engine');
  const [, scheme = '', user, hostText = '', portText] = match;
  const host = hostText.replace(/^\[|\]$/g, '');
  if (scheme === 'ssh') {
    const port = portText === undefined ? [] : ['-p', portText];
    const login = user === undefined ? host : `${user}@${host}`;
    if (login.startsWith('-')) return bad('whose host begins with -');
    return { ok: true, endpoint: { kind: 'ssh', args: [...port, login], said: text }, from };
  }
  const tls = certificates === null ? null : readCertificates(certificates);
  if (typeof tls === 'string')
    return { ok: false, absent: false, message: `${text} is spoken to by TLS, and ${tls}` };
  const port = portText === undefined ? (tls === null ? 2375 : 2376) : Number(portText);
  return { ok: true, endpoint: { kind: 'tcp', host, port, tls }, from };
}

const certificateFiles = [
  ['ca.pem', "the authority that signed the Engine's certificate"],
  ['cert.pem', 'your own certificate'],
  ['key.pem', 'the key of your own certificate'],
] as const;

/** Or what is missing. */
function readCertificates(folder: string): TlsFiles | string {
  const texts: string[] = [];
  for (const [name, what] of certificateFiles) {
    try {
      texts.push(readFileSync(path.join(folder, name), 'utf8'));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return `${path.join(folder, name)} (${what}) cannot be read: ${why}. Put it there, or set DOCKER_CERT_PATH to the folder that has ca.pem, cert.pem and key.pem.`;
    }
  }
  const [ca = '', cert = '', key = ''] = texts;
  return { ca, cert, key };
}

const configSchema = z.looseObject({ currentContext: z.string().optional() });

function currentContext(folder: string): string | null {
  try {
    return (
      configSchema.parse(JSON.parse(readFileSync(path.join(folder, 'config.json'), 'utf8'))).currentContext ??
      null
    );
  } catch {
    return null; // none, or not readable: the usual sockets then
  }
}

const contextSchema = z.looseObject({
  Endpoints: z.looseObject({ docker: z.looseObject({ Host: z.string().min(1) }) }),
});

/** As the docker command keeps contexts: folders named by the hash of the context's name. */
function readContext(folder: string, name: string): FoundEndpoint {
  const hash = createHash('sha256').update(name).digest('hex');
  try {
    const file = path.join(folder, 'contexts', 'meta', hash, 'meta.json');
    const { Endpoints } = contextSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    const tls = path.join(folder, 'contexts', 'tls', hash, 'docker');
    return readHost(Endpoints.docker.Host, existsSync(tls) ? tls : null, `the docker context ${name}`);
  } catch {
    return {
      ok: false,
      absent: false,
      message: `The docker context ${name} cannot be read below ${folder}. Choose another with docker context use, or set DOCKER_HOST.`,
    };
  }
}

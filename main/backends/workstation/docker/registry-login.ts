/** The user's own Docker logins: plain ones of config.json, and those a credential helper keeps. They go to the Engine alone. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type Docker from 'dockerode';
import { z } from 'zod';
import { configFolderOf } from './endpoint.js';

const word = z.string().nullish();
const configSchema = z.looseObject({
  auths: z.record(z.string(), z.looseObject({ auth: word, identitytoken: word })).nullish(),
  credsStore: word,
  credHelpers: z.record(z.string(), z.string()).nullish(),
});

const answerSchema = z.looseObject({ Username: z.string(), Secret: z.string() });

const hub = 'https://index.docker.io/v1/';
/** One that asks its user, or a service, may take its time; as Docker's own client, which waits for as long as it takes. */
const helperMs = 120_000;
/** What a helper printed is there so long after its end at most. */
const lastWordsMs = 500;

/** The registry an image name leads to, as config.json names it. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  return !isHost || first === 'docker.io' ? hub : first;
}

/** Undefined: the user has no login for that registry. */
export async function loginFor(
  image: string,
  environment: Readonly<Record<string, string | undefined>>,
  home: string,
): Promise<Docker.AuthConfig | undefined> {
  const file = path.join(configFolderOf(environment, home), 'config.json');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined; // never logged in anywhere
  }
  const parsed = configSchema.safeParse(readJson(text));
  // Not with what stands in it: the file holds secrets.
  if (!parsed.success) throw new Error(`The Docker configuration ${file} cannot be read`);
  const { auths, credsStore, credHelpers } = parsed.data;
  const registry = registryOf(image);
  // An empty name is Docker's own way to say that the file itself keeps it.
  const helper = credHelpers?.[registry] ?? credsStore ?? '';
  if (helper !== '') {
    const found = await askHelper(helper, registry, environment);
    if (found !== null) return found;
  }
  const entries = Object.entries(auths ?? {});
  const [, auth] = entries.find(([name]) => name === registry || hostOf(name) === hostOf(registry)) ?? [];
  if (auth === undefined) return undefined;
  const [username = '', ...password] = Buffer.from(auth.auth ?? '', 'base64')
    .toString('utf8')
    .split(':');
  const token = auth.identitytoken ?? '';
  if (token !== '') return tokenLogin(token, registry);
  return username === ''
    ? undefined
    : { username, password: password.join(':').replace(/\0+$/, ''), serveraddress: registry };
}

function tokenLogin(token: string, registry: string): Docker.AuthConfig {
  const login = { identitytoken: token, serveraddress: registry };
  // The client sends a ready header as it is.
  return { key: Buffer.from(JSON.stringify(login)).toString('base64url') };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Without the scheme and path that the one of Docker itself has. */
export function hostOf(registry: string): string {
  return registry.replace(/^https?:\/\//, '').split('/')[0] ?? registry;
}

/** Null: it keeps none for that registry. */
async function askHelper(
  helper: string,
  registry: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Docker.AuthConfig | null> {
  if (!/^[A-Za-z0-9._-]+$/.test(helper))
    throw new Error(`${JSON.stringify(helper)} is no name of a credential helper`);
  const program = `docker-credential-${helper}`;
  const { how, output } = await runHelper(program, registry, environment);
  if (how !== null) {
    if (/credentials not found/i.test(output)) return null;
    throw new Error(`The credential helper ${program} failed for ${registry} (${how})`);
  }
  const answer = answerSchema.safeParse(readJson(output));
  if (!answer.success) throw new Error(`The credential helper ${program} gave no login for ${registry}`);
  const { Username: username, Secret: password } = answer.data;
  return username === '<token>'
    ? tokenLogin(password, registry)
    : { username, password, serveraddress: registry };
}

/** `how`: it failed; null: it did not. */
function runHelper(
  program: string,
  registry: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ how: string | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['get'], {
      env: environment,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: helperMs,
      // One that ignores a milder one would keep the pull waiting.
      killSignal: 'SIGKILL',
    });
    let output = '';
    child.stdout.on('data', (piece: Buffer) => {
      output += piece.toString();
    });
    child.stdin.on('error', () => undefined);
    child.on('error', (error) =>
      reject(new Error(`The credential helper ${program} cannot be run: ${error.message}`)),
    );
    const over = (code: number | null, signal: string | null): void => {
      const ended = code === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${code}`;
      const how = child.killed ? `no answer within ${helperMs / 1000} s` : ended;
      resolve({ how: code === 0 ? null : how, output });
      child.stdout.destroy();
    };
    child.on('close', over);
    // What it started may hold its output open for as long as that lives.
    child.on('exit', (code, signal) => setTimeout(() => over(code, signal), lastWordsMs).unref());
    child.stdin.end(registry);
  });
}

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findEndpoint, type FoundEndpoint } from './endpoint.js';
import { loginFor, registryOf } from './registry-login.js';

let home = '';
beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), 'iris-endpoint-'));
  mkdirSync(path.join(home, '.docker'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const put = (name: string, content: unknown, mode = 0o600): string => {
  const file = path.join(home, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode });
  return file;
};

describe('where the Engine is', () => {
  const find = (environment: Record<string, string>): FoundEndpoint =>
    findEndpoint({ environment, home, uid: 4_000_000 });

  it('is what DOCKER_HOST says', () => {
    const at = (host: string) => {
      const found = find({ DOCKER_HOST: host });
      return found.ok ? found.endpoint : found.message;
    };
    expect(at('unix:///x/d.sock')).toEqual({ kind: 'socket', path: '/x/d.sock' });
    expect(at('tcp://box:4444')).toEqual({ kind: 'tcp', host: 'box', port: 4444, tls: null });
    expect(at('tcp://[::1]')).toEqual({ kind: 'tcp', host: '::1', port: 2375, tls: null });
    expect(at('ssh://ann@box:2222')).toMatchObject({ kind: 'ssh', args: ['-p', '2222', 'ann@box'] });
    expect(at('ssh://-oProxyCommand=x')).toContain('begins with -');
    expect(at('nonsense')).toContain('DOCKER_HOST is "nonsense"');
  });

  it('is spoken to with the certificates of DOCKER_CERT_PATH', () => {
    for (const name of ['ca', 'cert', 'key']) put(`certs/${name}.pem`, name);
    const environment = { DOCKER_HOST: 'tcp://box', DOCKER_CERT_PATH: path.join(home, 'certs') };
    expect(find(environment)).toMatchObject({
      endpoint: { port: 2376, tls: { ca: 'ca', cert: 'cert', key: 'key' } },
    });
    expect(find({ ...environment, DOCKER_CERT_PATH: home })).toMatchObject({ ok: false, absent: false });
  });

  it('is what the docker context names, and says when that cannot be read', () => {
    put('.docker/config.json', { currentContext: 'lab' });
    expect(find({})).toMatchObject({ ok: false, absent: false });
    const hash = createHash('sha256').update('lab').digest('hex');
    put(`.docker/contexts/meta/${hash}/meta.json`, { Endpoints: { docker: { Host: 'unix:///lab.sock' } } });
    expect(find({})).toMatchObject({ ok: true, endpoint: { path: '/lab.sock' } });
  });

  it('is not looked for where an empty variable would say', () => {
    const hash = createHash('sha256').update('lab').digest('hex');
    put('.docker/config.json', { currentContext: 'lab' });
    put(`.docker/contexts/meta/${hash}/meta.json`, { Endpoints: { docker: { Host: 'unix:///lab.sock' } } });
    const lab = { ok: true, endpoint: { path: '/lab.sock' } };
    expect(find({ DOCKER_CONTEXT: '', DOCKER_CONFIG: '', DOCKER_HOST: '' })).toMatchObject(lab);
    const tcp = { DOCKER_HOST: 'tcp://box', DOCKER_CERT_PATH: '', DOCKER_TLS_VERIFY: '' };
    expect(find(tcp)).toMatchObject({ ok: true, endpoint: { port: 2375, tls: null } });
    const bare = find({ DOCKER_CONTEXT: 'default', XDG_RUNTIME_DIR: '' });
    expect(bare.ok ? '/run/user/4000000/docker.sock' : bare.message).toContain(
      '/run/user/4000000/docker.sock',
    );
  });

  // A machine may have the usual socket too, which is then the first.
  it.skipIf(existsSync('/var/run/docker.sock'))('is the rootless socket when there is one', () => {
    const file = put('run/docker.sock', '');
    expect(find({ XDG_RUNTIME_DIR: path.join(home, 'run') })).toEqual({
      ok: true,
      endpoint: { kind: 'socket', path: file },
      from: 'looked for in XDG_RUNTIME_DIR',
    });
  });

  it.skipIf(existsSync('/var/run/docker.sock'))('is not Podman unless DOCKER_HOST names it', () => {
    const file = put('run/podman/podman.sock', '');
    const found = find({ XDG_RUNTIME_DIR: path.join(home, 'run') });
    expect(found).toMatchObject({ ok: false, absent: true });
    expect(found.ok ? '' : found.message).toContain(`set DOCKER_HOST=unix://${file}.`);
  });
});

describe('logins', () => {
  const auth = (text: string) => ({ auth: Buffer.from(text).toString('base64') });

  it.each([
    ['busybox', 'https://index.docker.io/v1/'],
    ['user/image:1', 'https://index.docker.io/v1/'],
    ['docker.io/user/image', 'https://index.docker.io/v1/'],
    ['registry.example:5000/a/b@sha256:00', 'registry.example:5000'],
    ['localhost/a', 'localhost'],
  ])('%s is of %s', (image, registry) => expect(registryOf(image)).toBe(registry));

  it('are those of the user, for that registry alone', async () => {
    put('.docker/config.json', { auths: { 'https://r.example': auth('ann:se:cret'), 'other.example': {} } });
    expect(await loginFor('r.example/a:1', {}, home)).toEqual({
      username: 'ann',
      password: 'se:cret',
      serveraddress: 'r.example',
    });
    expect(await loginFor('other.example/a', {}, home)).toBeUndefined();
    expect(await loginFor('busybox', {}, home)).toBeUndefined();
  });

  it.each([
    { credsStore: '' },
    { credsStore: null, credHelpers: null },
    { credsStore: 'nosuch', credHelpers: { 'r.example': '' } },
  ])('are read from the file itself where it names no helper: %j', async (more) => {
    put('.docker/config.json', { auths: { 'r.example': auth('ann:secret') }, ...more });
    const login = { username: 'ann', password: 'secret', serveraddress: 'r.example' };
    expect(await loginFor('r.example/a', { DOCKER_CONFIG: '' }, home)).toEqual(login);
  });

  it('are none where other programs write none', async () => {
    put('.docker/config.json', { auths: null, credsStore: '' });
    expect(await loginFor('r.example/a', {}, home)).toBeUndefined();
    put('.docker/config.json', { auths: { 'r.example': { auth: null, identitytoken: '' } } });
    expect(await loginFor('r.example/a', {}, home)).toBeUndefined();
  });

  it('come from a credential helper, which may have none', async () => {
    const helper = [
      '#!/bin/sh',
      'read server',
      'if test "$server" = r.example; then echo \'{"Username":"bob","Secret":"s"}\'; exit 0; fi',
      'if test "$server" = t.example; then echo \'{"Username":"<token>","Secret":"t"}\'; exit 0; fi',
      'echo "credentials not found in native keychain"; exit 1',
    ].join('\n');
    put('bin/docker-credential-test', helper, 0o755);
    put('.docker/config.json', { credsStore: 'test', credHelpers: { 'n.example': 'nosuch' } });
    const environment = { PATH: `${path.join(home, 'bin')}:${process.env['PATH'] ?? ''}` };
    expect(await loginFor('r.example/a', environment, home)).toMatchObject({
      username: 'bob',
      password: 's',
    });
    expect(await loginFor('busybox', environment, home)).toBeUndefined();
    const token = await loginFor('t.example/a', environment, home);
    const sent: unknown = JSON.parse(
      Buffer.from(token !== undefined && 'key' in token ? token.key : '', 'base64url').toString(),
    );
    expect(sent).toEqual({ identitytoken: 't', serveraddress: 't.example' });
    await expect(loginFor('n.example/a', environment, home)).rejects.toThrow('docker-credential-nosuch');
  });

  it.each([
    ['kill -SEGV $$', 'ended by SIGSEGV'],
    ['exit 3', 'exit code 3'],
  ])('say how a helper that does %s has failed', async (script, how) => {
    put('bin/docker-credential-test', `#!/bin/sh\n${script}\n`, 0o755);
    put('.docker/config.json', { credsStore: 'test' });
    const environment = { PATH: `${path.join(home, 'bin')}:${process.env['PATH'] ?? ''}` };
    await expect(loginFor('r.example/a', environment, home)).rejects.toThrow(
      `The credential helper docker-credential-test failed for r.example (${how})`,
    );
  });

  it('come from a helper that leaves a program of its own behind, which goes on', async () => {
    const helper = '#!/bin/sh\nsleep 60 &\necho $! >"$0.pid"\necho \'{"Username":"bob","Secret":"s"}\'\n';
    put('bin/docker-credential-test', helper, 0o755);
    put('.docker/config.json', { credsStore: 'test' });
    const environment = { PATH: `${path.join(home, 'bin')}:${process.env['PATH'] ?? ''}` };
    try {
      expect(await loginFor('r.example/a', environment, home)).toMatchObject({ username: 'bob' });
    } finally {
      process.kill(Number(readFileSync(path.join(home, 'bin/docker-credential-test.pid'), 'utf8')));
    }
  });

  it('that cannot be read are named without what stands in them', async () => {
    put('.docker/config.json', '{"auths": {"r.example": {"auth": "c2VjcmV0');
    await expect(loginFor('r.example/a', {}, home)).rejects.toThrow(/config\.json cannot be read$/);
  });
});

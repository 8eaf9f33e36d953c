/** Logins that need an answer: keys with a passphrase and passwords, against real sshds. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSshFleet, type SshFleet } from '../../main/backends/workstation/ssh-fleet.js';
import type { Question } from '../../core/contract/questions.js';
import { startHost } from '../../main/controller/host.js';
import { resolveHome } from '../../main/home.js';
import type { LabHost } from '../../scripts/lib/lab-hosts.mjs';
import { BackendProbe } from '../harness/backend-probe.js';
import { connectClient } from '../harness/client.js';
import { FakeBackend, FakeMachine } from '../harness/fake-backend.js';
import { makeHomeRoot } from '../harness/host-process.js';
import { describeLab, labMachines, quickLimits, type LabMachines, type LabProbe } from '../harness/lab.js';
import { Answerer } from '../harness/login.js';
import { eventually } from '../harness/process-backend.js';

const passphrase = 'open-sesame-73';
const password = 'swordfish-21';

let machines: LabMachines;
let folder: string;
let keyFile: string;
let two: LabHost;
let three: LabHost;
let closed: LabHost;
let answerer: Answerer;

/** The hosts as a user has them who has nothing but a locked key. */
async function config(name: string, text: (host: LabHost) => string): Promise<string> {
  const file = path.join(folder, name);
  const known = `UserKnownHostsFile ${machines.lab.knownHosts}`;
  const each = [two, three, closed].map(
    (host) => `Host ${host.name}\n  HostName ${host.address}\n  User root\n  ${known}\n  ${text(host)}\n`,
  );
  await writeFile(file, each.join('\n'));
  return file;
}

async function open(host: LabHost, configFile: string): Promise<LabProbe> {
  const { desk } = answerer;
  const probe = await machines.open(host, { ...quickLimits, wait: false, client: { configFile }, desk });
  probe.reconcile();
  return probe;
}

const message = (probe: LabProbe) => probe.backend.observe()[0]?.contact?.message ?? '';
const says = (probe: LabProbe, text: string) => probe.until(() => message(probe).includes(text));

/** Files below that hold the text. */
function filesWith(text: string, below: string): string[] {
  return readdirSync(below, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(below, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
    .filter((file) => readFileSync(file).includes(text));
}

/** Arguments and environments of all processes. */
function processTexts(): { readonly pid: string; readonly text: string }[] {
  const read = (file: string) => {
    try {
      return readFileSync(file, 'latin1');
    } catch {
      return ''; // ended meanwhile
    }
  };
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => ({ pid, text: read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`) }));
}

describeLab('a login that needs an answer', () => {
  let locked: string;
  let asksPassword: string;

  beforeAll(async () => {
    machines = await labMachines();
    folder = await mkdtemp(path.join(os.tmpdir(), 'iris-login-'));
    keyFile = machines.lab.lockedKey(passphrase);
    two = await machines.lab.host('ws-two');
    three = await machines.lab.host('ws-three');
    closed = await machines.lab.host('ws-password', { password });
    locked = await config('locked', () => `IdentityFile ${keyFile}\n  IdentitiesOnly yes`);
    asksPassword = await config('password', () => 'IdentityFile none\n  PubkeyAuthentication no');
  });
  beforeEach(() => {
    answerer = new Answerer();
    answerer.desk.listen(null, true);
  });
  afterEach(async () => {
    await machines.closeProbes();
    answerer.desk.close();
  });
  afterAll(async () => {
    await machines.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  test('the question names machine and key, a wrong answer is asked again, the right one connects', async () => {
    const probe = await open(two, locked);
    expect(await answerer.answer(1, 'not it')).toMatchObject({
      machine: 'ws-two',
      address: 'ssh://ws-two',
      kind: 'passphrase',
      subject: keyFile,
      mayKeep: true,
      wrongBefore: false,
    });
    expect(await answerer.answer(2, passphrase)).toMatchObject({ subject: keyFile, wrongBefore: true });
    await probe.healthy();
    expect(answerer.asked).toHaveLength(2);
    expect(answerer.desk.open(null)).toBeNull();
  });

  test('three wrong answers are enough: it is said, and asked anew only when somebody tries to connect', async () => {
    const probe = await open(two, locked);
    for (const count of [1, 2, 3]) await answerer.answer(count, `wrong ${count}`);
    await says(probe, `It did not open with what was answered for the passphrase of ${keyFile}`);
    expect(message(probe)).toContain('irisctl machine connect ws-two');
    // The tries after it ask nothing.
    await says(probe, 'does not let this user in without a question');
    expect(answerer.asked).toHaveLength(3);
    const retried = probe.machine.retry();
    await answerer.answer(4, passphrase);
    expect(await retried).toBeNull();
    await probe.healthy();
  });

  test('what is cancelled is not asked again by itself', async () => {
    const probe = await open(two, locked);
    await answerer.answer(1, null);
    await says(probe, `The question for the passphrase of ${keyFile} was cancelled`);
    expect(probe.contact()).toBe('ANSWER_NEEDED');
    await says(probe, 'does not let this user in without a question');
    expect(answerer.asked).toHaveLength(1);
    // By then it counts as lost like any other that is not heard of, and is shown for what it is.
    await probe.until(() => probe.state_() === 'DEAD');
    expect(probe.contact()).toBe('ANSWER_NEEDED');
    const retried = probe.machine.retry();
    await answerer.answer(2, null);
    expect(await retried).toMatchObject({ kind: 'login', unanswered: 'refused' });
  });

  test('a question has its time', async () => {
    answerer = new Answerer(300);
    answerer.desk.listen(null, true);
    const probe = await open(two, locked);
    await says(probe, `The question for the passphrase of ${keyFile} was not answered within`);
    await says(probe, 'does not let this user in without a question');
    expect(answerer.asked).toHaveLength(1);
    expect(answerer.desk.open(null)).toBeNull();
  });

  test('of two machines at once one is asked about after the other', async () => {
    const probes = [await open(two, locked), await open(three, locked)];
    const first = await answerer.answer(1, passphrase);
    const second = await answerer.answer(2, passphrase);
    expect([first.machine, second.machine].sort()).toEqual(['ws-three', 'ws-two']);
    for (const probe of probes) await probe.healthy();
    expect(answerer.asked).toHaveLength(2);
  });

  test('after a cut it is asked again, unless the answer was to be kept', async () => {
    const probe = await open(two, locked);
    await answerer.answer(1, passphrase);
    await probe.healthy();
    two.restartSshd();
    await answerer.answer(2, passphrase, true);
    await probe.healthy();
    two.restartSshd();
    await probe.until(() => probe.contact() !== 'CONNECTED');
    await probe.healthy();
    // Of the same key, so it serves another machine as well.
    const other = await open(three, locked);
    await other.healthy();
    expect(answerer.asked).toHaveLength(2);
  });

  test('passwords are asked for as well, and one kept that has become wrong is forgotten', async () => {
    const probe = await open(closed, asksPassword);
    expect(await answerer.answer(1, 'wrong')).toMatchObject({
      kind: 'password',
      subject: `root@${closed.address}`,
      wrongBefore: false,
    });
    expect(await answerer.answer(2, password, true)).toMatchObject({ wrongBefore: true });
    await probe.healthy();
    closed.sh("echo 'root:*:20000:0:99999:7:::' >/etc/shadow");
    closed.restartSshd();
    expect(await answerer.answer(3, null)).toMatchObject({ kind: 'password', wrongBefore: true });
    await says(probe, `The question for the password of root@${closed.address} was cancelled`);
  });

  test('who begins to listen is asked what nobody was there for; who leaves is not waited for', async () => {
    answerer.desk.listen(null, false);
    const probe = await open(two, locked);
    await says(probe, 'be asked for: irisctl machine connect ws-two');
    expect(probe.contact()).toBe('ANSWER_NEEDED');
    expect(answerer.asked).toHaveLength(0);
    answerer.desk.listen('ssh://ws-two', true);
    probe.machine.listenedTo();
    await answerer.question(1);
    answerer.desk.listen('ssh://ws-two', false);
    await says(probe, 'nobody is there to answer');
    answerer.desk.listen('ssh://ws-two', true);
    const retried = probe.machine.retry();
    await answerer.answer(2, passphrase);
    expect(await retried).toBeNull();
  });

  test('whether a host key is right is never asked, on the way through another machine either', async () => {
    const jump = await config('jump', () => `IdentityFile ${machines.lab.folder}/key\n  IdentitiesOnly yes`);
    const unknown = `Host gate\n  HostName ${three.address}\n  User root\n  UserKnownHostsFile /dev/null\n  IdentityFile ${machines.lab.folder}/key\n`;
    await writeFile(
      jump,
      `${unknown}\n${readFileSync(jump, 'utf8').replace(/^Host ws-two$/m, '$&\n  ProxyJump gate')}`,
    );
    const probe = await open(two, jump);
    await says(probe, 'is not known here');
    expect(answerer.asked).toHaveLength(0);
  });

  test('no answer is ever in a file, an argument or an environment', async () => {
    const probe = await open(two, locked);
    const { id } = await answerer.question(1);
    const home = path.dirname(readFolder());
    const asking = processTexts().filter(({ text }) => text.includes(readFolder()));
    expect(asking.length).toBeGreaterThan(0);
    expect(statSync(readFolder()).mode & 0o777).toBe(0o700);
    expect(filesWith(passphrase, home)).toEqual([]);
    answerer.desk.answer(id, passphrase, true);
    await probe.healthy();
    expect(readdirSync(home).filter((name) => name.startsWith('q-'))).toEqual([]);
    expect(filesWith(passphrase, path.dirname(home))).toEqual([]);
    // This test itself has it in its own text, not in its arguments.
    expect(processTexts().filter(({ text }) => text.includes(passphrase))).toEqual([]);
    expect(JSON.stringify([machines.warnings, probe.backend.observe()])).not.toContain(passphrase);
  });

  /** Of the run of ssh that asks now. */
  function readFolder(): string {
    const found = /SSH_ASKPASS=([^\0]+)\/ask/.exec(
      processTexts().find(({ text }) => text.includes('SSH_ASKPASS='))?.text ?? '',
    );
    return found?.[1] ?? 'none';
  }
});

describeLab('a look at a machine that needs an answer', () => {
  let fleet: SshFleet;
  let home: string;
  let locked: string;

  beforeAll(async () => {
    machines = await labMachines();
    folder = await mkdtemp(path.join(os.tmpdir(), 'iris-login-'));
    home = path.join(folder, 'home');
    keyFile = machines.lab.lockedKey(passphrase);
    [two, three, closed] = [
      await machines.lab.host('ws-two'),
      await machines.lab.host('ws-three'),
      await machines.lab.host('ws-password', { password }),
    ];
    locked = await config('locked', () => `IdentityFile ${keyFile}\n  IdentitiesOnly yes`);
    answerer = new Answerer();
    fleet = createSshFleet({
      local: new FakeBackend(new FakeMachine()),
      home,
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      nowMs: () => Date.now(),
      monotonicMs: () => performance.now(),
      client: { configFile: locked },
      desk: answerer.desk,
    });
  });
  afterAll(async () => {
    await fleet.backend.close();
    answerer.desk.close();
    await machines.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  test('with nobody to answer it says by a code what is missing and what to do', async () => {
    const look = await fleet.machines.check('ws-two', null);
    expect(look.usable).toBe(false);
    expect(look.checks.find(({ step }) => step === 'login')).toMatchObject({
      outcome: 'FAILED',
      code: 'ANSWER_NEEDED',
      advice: expect.stringContaining('ssh-add'),
    });
  });

  test('one answer serves the look and the connection that follows when it is added', async () => {
    answerer.desk.listen('ws-two', true);
    const looking = fleet.machines.check('ws-two', null, true);
    await answerer.answer(1, passphrase);
    const { usable, identity } = await looking;
    expect(usable).toBe(true);
    answerer.desk.listen('ws-two', false);
    const probe = new BackendProbe(fleet.backend);
    await fleet.backend.start(probe);
    probe.reconcile();
    fleet.machines.add({ id: 'two', address: 'ssh://ws-two', identity });
    const worker = () => fleet.backend.observe().find(({ id }) => id === 'two');
    await probe.until(() => worker()?.state === 'HEALTHY');
    expect(answerer.asked).toHaveLength(1);
    // The answer was for that once.
    two.restartSshd();
    await probe.until(() => worker()?.contact?.message?.includes('irisctl machine connect two') === true);
    expect(await fleet.machines.connect('two')).toMatchObject({ isUnanswered: true });
    answerer.desk.listen('ws-two', true);
    await eventually(() => answerer.asked.length === 2, 'it is asked for again');
    const connected = fleet.machines.connect('two');
    await answerer.answer(2, passphrase);
    expect(await connected).toBeNull();
    await fleet.machines.remove('two');
  });

  test('over the wire: who adds it is asked, wrongly answered asked again, and nothing is written down', async () => {
    const { root, remove } = await makeHomeRoot();
    const wire = resolveHome({ flag: root });
    process.env['IRIS_SSH_CONFIG'] = locked;
    const host = await startHost({ home: wire, hostKind: 'headless', appVersion: '0', runtime: 'a test' });
    const client = await connectClient(wire.socket);
    try {
      const asked: Question[] = [];
      const seen = ({ question }: { readonly question: Question | null }) => {
        if (question !== null) asked.push(question);
      };
      client.subscribe(
        'questions',
        { address: 'ssh://ws-two' },
        { snapshot: seen, delta: seen, ended: () => undefined },
      );
      const adding = client.call('machine.add', {
        requestId: 'request-1',
        name: 'two',
        address: 'ssh://ws-two',
      });
      for (const [index, text] of ['wrong', passphrase].entries()) {
        await eventually(() => asked.length > index, `question ${index + 1} is told`);
        const questionId = asked[index]?.id ?? '';
        await client.call('question.answer', { questionId, answer: text, keep: true });
      }
      expect((await adding).machine?.id).toBe('two');
      expect(asked.map(({ wrongBefore }) => wrongBefore)).toEqual([false, true]);
      await client.call('machine.connect', { machineId: 'two' });
      expect(filesWith(passphrase, root)).toEqual([]);
    } finally {
      delete process.env['IRIS_SSH_CONFIG'];
      client.close();
      await host.stop('the test is over');
      await remove();
    }
  });
});

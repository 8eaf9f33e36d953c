/** Containers, cards and other workstations as their users meet them: an Engine and two machines of a lab, and a stand-in nvidia-smi. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testUser } from '../lib/ordinary-user.mjs';
import { root } from '../lib/paths.mjs';

/** @typedef {import('./cases.mjs').Case} Case */
/** @typedef {import('./cases.mjs').Stage} Stage */
/** @typedef {import('./commands.mjs').Ran} Ran */
/** @typedef {{uuid: string, index: number, name: string, variant: string, state: string, stateReason: string | null, note: string | null, parentUuid: string | null, utilizationPercent: number | null, memoryUsedBytes: number | null, memoryTotalBytes: number | null, powerWatts: number | null, processes: {pid: number, computes: boolean}[]}} Card */
/** @typedef {{id: string, state: string, scheduling: string, address: string | null, contact: {state: string}, docker: {state: string}, gpus: Card[], gpuNote: string | null}} Machine */

const user = os.userInfo().username;
const image = 'iris-test:1';
const mib = 2 ** 20;

/** @param {string} text */
const parsed = (text) => JSON.parse(text === '' ? 'null' : text);

/** @param {Stage} stage @param {string} name @returns {Promise<{summary: any, tasks: any[]}>} */
const shown = async ({ irisctl }, name) =>
  parsed((await irisctl(`job show ${name} --json`, { quiet: true })).out);

/** Asks again until it holds. @template T @param {() => Promise<T>} ask @param {(answer: T) => boolean} holds @returns {Promise<T>} the last answer */
async function until(ask, holds, seconds = 120) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (holds(answer) || Date.now() > end) return answer;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** @type {Case} */
const lab = {
  name: 'a lab: containers, and two workstations by SSH',
  async run(stage) {
    const { run, ok, env } = stage;
    /** @type {(signal: NodeJS.Signals) => void} */
    let interrupt = () => undefined;
    /** @type {() => string} */
    let printed = () => '';
    const ended = run('npm run -s cluster:lab', {
      timeoutMs: 900_000,
      quiet: true,
      onStart: (signal, output) => {
        interrupt = signal;
        printed = () => output().out + output().err;
      },
    });
    let over = false;
    void ended.then(() => {
      over = true;
    });
    stage.say('$ npm run cluster:lab');
    try {
      await until(
        async () => printed(),
        (text) => over || text.includes('Ctrl-C ends it all'),
        120,
      );
      const names = [...printed().matchAll(/^ {2}machine +ssh:\/\/(\S+)/gm)].map((found) => found[1] ?? '');
      const socket = /export DOCKER_HOST=(\S+)/.exec(printed())?.[1];
      const config = /export IRIS_SSH_CONFIG=(\S+)/.exec(printed())?.[1];
      ok(
        'an Engine, its image and two machines, by name',
        printed().includes(image) && names.length === 2,
        printed(),
      );
      if (socket === undefined || config === undefined) return;
      Object.assign(env, { DOCKER_HOST: socket, IRIS_SSH_CONFIG: config });
      await containers(stage);
      await workstations(stage, names);
    } finally {
      interrupt('SIGINT');
      const closed = await ended;
      const said = closed.out + closed.err;
      ok(
        'Ctrl-C ends it, clean',
        // npm tells of the signal that its script has handled.
        [0, 130].includes(closed.code) && said.endsWith('The lab is closed.\n') && !said.includes('is left'),
        said,
      );
    }
  },
};

/** @param {Stage} stage */
async function containers(stage) {
  const { irisctl, ok } = stage;
  const check = await irisctl('docker check');
  ok('docker check: usable here', check.code === 0 && /ready/i.test(check.out), check.out + check.err);

  const limits = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null';
  const small = await irisctl(
    `job run --job-name small --task-image ${image} --memory 64MB -- sh -c 'echo $IRIS_TASK_ID; ${limits}; true'`,
  );
  ok('a container ran: exit code 0', small.code === 0, small.err);
  const [task, bytes] = small.out.split('\n');
  ok('it knows its task', task === `/${user}/small/0`, small.out);
  ok('its limit is 64000000 rounded to pages', bytes === String(64_000_000 - (64_000_000 % 4096)), small.out);

  const large = await irisctl(
    `job run --job-name large --task-image ${image} --memory 32MB -- sh -c 'x=a; while true; do x=$x$x; done'`,
  );
  ok('out of memory is no success', large.code !== 0, large.code);
  const { summary } = await shown(stage, 'large');
  ok(
    'FAILED: out of memory, the limit named',
    summary.state === 'FAILED' &&
      summary.cause?.code === 'MEMORY_LIMIT' &&
      /30\.5 MiB/.test(summary.cause.message),
    summary.cause,
  );
}

/** @param {Stage} stage @param {readonly string[]} names */
async function workstations(stage, names) {
  const { irisctl, ok } = stage;
  const [host = ''] = names;
  const check = await irisctl(`machine check ssh://${host}`);
  ok('step by step, usable', check.code === 0 && !check.out.includes('FAILED'), check.out);
  const added = await irisctl(`machine add ssh://${host} --name two`);
  ok('added: exit code 0', added.code === 0, added.err);
  /** @returns {Promise<Machine | undefined>} */
  const two = async () =>
    parsed((await irisctl('machine list --json', { quiet: true })).out).find(
      (/** @type {Machine} */ each) => each.id === 'two',
    );
  const seen = await until(two, (machine) => machine?.state === 'HEALTHY');
  ok(
    'connected, and takes tasks',
    seen?.state === 'HEALTHY' && seen.contact.state === 'CONNECTED' && seen.scheduling === 'OPEN',
    seen,
  );
  const list = await irisctl('machine list');
  ok('listed', /^two +HEALTHY/m.test(list.out), list.out);
  const again = await irisctl(`machine add ssh://${host} --name three`);
  ok(
    'refused under a second name, with the first',
    again.code !== 0 && again.err.includes('the machine two'),
    again.err,
  );
  const ran = await irisctl('job run --machine two -- hostname');
  ok('hostname ran there', ran.code === 0 && ran.out === `${host}\n`, ran.out + ran.err);
  const there = await irisctl(
    `job run --machine two --task-image ${image} -- sh -c 'echo in a container of $IRIS_WORKER_ID'`,
  );
  ok('a container too', there.code === 0 && there.out === 'in a container of two\n', there.out + there.err);
  const unknown = await irisctl('job run --machine tow -- true');
  ok(
    'a machine there is not: those there are',
    unknown.code === 125 && /\btwo\b/.test(unknown.err),
    unknown.err,
  );

  await irisctl("job run --no-wait --job-name stays --machine two -- sh -c 'sleep 600'");
  await until(
    () => shown(stage, 'stays'),
    ({ summary }) => summary.taskCounts.RUNNING === 1,
  );
  const drained = await irisctl('machine drain two --deadline 1s --wait');
  ok(
    'drained, past its deadline',
    drained.code === 0 && drained.out === 'two DRAINED\n',
    drained.out + drained.err,
  );
  const stays = await until(
    () => shown(stage, 'stays'),
    ({ summary }) => summary.waiting !== null,
  );
  ok(
    'what ran was requeued, and says what it waits for',
    stays.summary.state === 'RUNNING' && stays.summary.waiting?.message === 'Waits: two is drained.',
    stays.summary,
  );
  const told = await irisctl('job explain stays');
  ok('job explain says so', told.out.includes('two is drained'), told.out);
  await irisctl('job stop stays --wait', { quiet: true });
  const removed = await irisctl('machine remove two');
  ok('removed: exit code 0', removed.code === 0 && (await two()) === undefined, removed.err);
}

/** What README.md of the captures calls the right reading, of what is not the same for all. @type {Readonly<Record<string, (cards: Card[], note: string | null) => boolean>>} */
const readings = {
  'a100-mig-four-instances.xml': (cards) =>
    cards.length === 4 &&
    cards.every((card) => card.parentUuid !== null && card.utilizationPercent === null) &&
    cards.every((card) => card.memoryTotalBytes === 19_968 * mib),
  'a10g-compute-process.xml': ([card]) =>
    card?.state === 'BUSY' && card.utilizationPercent === 0 && card.processes[0]?.pid === 4001,
  'csv-gb10-compute-apps.csv': nothing,
  'csv-gb10-unified-memory-na.csv': nothing,
  'csv-mig-insufficient-permissions.csv': nothing,
  'csv-not-supported-gtx-770.csv': nothing,
  'csv-one-fan-unknown-error.csv': nothing,
  'gt-730-all-utilization-na.xml': (cards) =>
    cards.length === 1 && cards[0]?.utilizationPercent === null && cards[0].memoryTotalBytes === null,
  'gtx-1070-ti-short-old-schema.xml': (cards) =>
    cards.length === 1 && cards[0]?.powerWatts === null && cards[0].state === 'FREE',
  'gtx-1660-ti-named-graphics-device.xml': ([card]) =>
    /graphics device/i.test(card?.name ?? '') && card?.state === 'FREE',
  'k80-x4-minor-number-not-list-order.xml': (cards) =>
    cards.map(({ index, state }) => `${index} ${state}`).join() === '0 BUSY,1 BUSY,2 FREE,3 FREE',
  'query-text-h100-invalid-slowdown-lines.txt': (cards) => cards.length === 1 && cards[0]?.variant === 'h100',
  'rtx-3060-driver-570.xml': (cards) => cards.length === 1 && cards[0]?.powerWatts === 11.63,
  'rtx-3080-wddm-long-process-names.xml': ([card]) =>
    card?.state === 'FREE' && card.processes.length === 5 && !card.processes.some(({ computes }) => computes),
  'rtx-4000-sff-ada-schema-v13.xml': ([card]) =>
    card?.memoryUsedBytes === 3534 * mib && card.processes.length === 4,
  'stdout-device-handle-unknown-error.txt': (cards, note) =>
    cards.length === 1 && cards[0]?.state === 'SICK' && /lost/.test(note ?? ''),
  'stdout-failed-to-initialize-nvml.txt': (cards, note) => cards.length === 0 && /NVML/.test(note ?? ''),
  'table-fan-err.txt': ([card]) => card?.state === 'FREE' && /fan ERR!/.test(card.note ?? ''),
  'table-gb10-memory-not-supported.txt': (cards) => cards.length === 1 && cards[0]?.variant === 'gb10',
  'table-h100-x8-idle.txt': (cards) => cards.length === 8 && cards.every(({ state }) => state === 'FREE'),
};

/** Answers to other questions than the one for all there is: no card is made up from them. @param {Card[]} cards @param {string | null} note */
function nothing(cards, note) {
  return cards.length === 0 && note !== null;
}

/** Puts a stand-in nvidia-smi that answers with a file into a folder. @param {string} folder @param {string} file */
function standIn(folder, file) {
  mkdirSync(folder, { recursive: true });
  const command = join(folder, 'nvidia-smi');
  const code = file.includes('stdout-') ? 15 : 0;
  writeFileSync(command, `#!/bin/sh\ncase "$*" in "-q -x") cat '${file}'; exit ${code};; esac\nexit 9\n`);
  chmodSync(command, 0o755);
}

/** @type {Case} */
const cards = {
  name: 'every capture of nvidia-smi is read right',
  async run({ run, ok, env }) {
    const captures = join(root, 'test', 'fixtures', 'nvidia-smi');
    const files = readdirSync(captures).sort();
    ok('each capture has its reading', files.join() === Object.keys(readings).sort().join(), files);
    for (const file of files) {
      const folder = mkdtempSync(join(tmpdir(), 'iris-accept-gpu-'));
      standIn(folder, join(captures, file));
      const own = { ...env, IRIS_DESKTOP_HOME: join(folder, 'home'), PATH: `${folder}:${env.PATH}` };
      const options = { env: own, quiet: true };
      try {
        const show = await run('npm run -s irisctl -- machine show --json', options);
        const machine = /** @type {Machine | null} */ (show.code === 0 ? parsed(show.out) : null);
        const holds = machine !== null && readings[file]?.(machine.gpus, machine.gpuNote) === true;
        ok(file, holds, machine === null ? show.err : { note: machine.gpuNote, gpus: machine.gpus });
      } finally {
        await run('npm run -s irisctl -- shutdown', options);
        rmSync(folder, { recursive: true, force: true });
      }
    }
  },
};

/** @type {Case} */
const shared = {
  name: 'two logins, one card: one runs, the other waits and says for whom',
  async run({ run, ok, env, say }) {
    const folder = mkdtempSync(join(tmpdir(), 'iris-accept-card-'));
    chmodSync(folder, 0o755);
    const other = testUser();
    const capture = join(folder, 'rtx-3060.xml');
    copyFileSync(join(root, 'test', 'fixtures', 'nvidia-smi', 'rtx-3060-driver-570.xml'), capture);
    chmodSync(capture, 0o644);
    standIn(join(folder, 'bin'), capture);
    const both = { PATH: `${join(folder, 'bin')}:${env.PATH}`, IRIS_DESKTOP_CLAIMS: join(folder, 'claims') };
    const mine = { ...env, ...both, IRIS_DESKTOP_HOME: join(folder, 'home') };
    const theirs = { ...env, ...other.env, ...both, IRIS_DESKTOP_HOME: join(other.home, 'iris') };
    const cli = join('out', 'main', 'cli.js');
    /** @param {string} line */
    const first = (line) => run(`node '${join(root, cli)}' ${line}`, { env: mine, quiet: true, cwd: '/' });
    /** @param {string} line */
    const second = (line) => {
      const words = other.wrap(['sh', '-c', `exec node '${join(other.root, cli)}' ${line}`]);
      return run(words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' '), {
        env: theirs,
        quiet: true,
        cwd: '/',
      });
    };
    try {
      say(`$ irisctl job run --gpu 1 -- sleep 600     # as ${user}`);
      const held = await first(
        'job run --no-wait --job-name holder --gpu 1 --cpu 0.5 --memory 64MB -- sleep 600',
      );
      ok('the first is accepted', held.code === 0, held.err);
      const runs = await until(
        async () => parsed((await first('job show holder --json')).out),
        (each) => each?.summary.taskCounts.RUNNING === 1,
      );
      ok('and runs', runs?.summary.taskCounts.RUNNING === 1, runs?.summary);
      say('$ irisctl job run --gpu 1 -- echo mine     # as another login');
      const asked = await second(
        'job run --no-wait --job-name waiter --gpu 1 --cpu 0.5 --memory 64MB -- echo mine',
      );
      ok('the second is accepted', asked.code === 0, asked.err);
      const waits = await until(
        async () => parsed((await second('job show waiter --json')).out),
        (each) => (each?.summary.waiting?.message ?? '').includes(`used by ${user}`),
      );
      ok(
        'waits, and says for whom',
        waits?.summary.waiting?.message.includes(`used by ${user}`) === true,
        waits?.summary,
      );
      await first('job stop holder --wait');
      const ran = await second('job wait waiter --timeout 90s');
      ok('gets the card when it is free', ran.code === 0, ran.out + ran.err);
    } finally {
      await first('job stop holder --wait');
      await first('shutdown');
      await second('job stop waiter --wait');
      await second('shutdown');
      other.remove();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

export const dockerGpus = [lab, cards, shared];

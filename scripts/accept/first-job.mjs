/** A person launches a first job: the lines of the tour, and what must be true after each. */
import { existsSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { performance } from 'node:perf_hooks';
import { callHost } from './call-host.mjs';
import { readPng } from './png.mjs';
import { windowProcess } from './window-process.mjs';

const user = os.userInfo().username;
const cores = os.availableParallelism();

/** @typedef {import('./cases.mjs').Case} Case */
/** @typedef {{id: string, name: string, state: string, exitCode: number | null, numTasks: number, waiting: {message: string} | null, cause: {code: string, message: string} | null}} Summary */

/** @type {Case} */
const example = {
  name: 'the example job in the window',
  async run({ run, ok, env }) {
    const shown = { ...env };
    // A machine with a display would show a window and wait for a person.
    delete shown.DISPLAY;
    delete shown.WAYLAND_DISPLAY;
    const ran = await run('npm start -- --example', { env: shown, timeoutMs: 240_000 });
    const text = `${ran.out}\n${ran.err}`;
    ok('exit code 0', ran.code === 0, ran.code);
    ok('says that the job SUCCEEDED', /\bSUCCEEDED\b/.test(text), text.slice(-600));
    ok('prints the tail of its log: a loss line', /loss/i.test(text), text.slice(-600));
    const picture = /(\/\S+\.png)/.exec(text)?.[1];
    ok(
      'prints the path of a screenshot that is there',
      picture !== undefined && existsSync(picture),
      picture,
    );
    if (picture === undefined || !existsSync(picture)) return;
    const png = readPng(readFileSync(picture));
    ok(
      'the screenshot is a PNG of a whole window',
      png !== null && png.width >= 600 && png.height >= 400,
      png,
    );
    ok('the screenshot shows something', png !== null && png.distinctColours >= 16, png);
  },
};

/** @type {Case} */
const streams = {
  name: 'streams and exit code',
  async run({ irisctl, ok }) {
    const ran = await irisctl("job run --cpu 1 --memory 64MB -- sh -c 'echo out; echo err >&2; exit 3'");
    ok("the task's standard output is on ours, and nothing else", ran.out === 'out\n', ran.out);
    ok("the task's standard error is on ours", /^err$/m.test(ran.err), ran.err);
    ok(
      'the id is named on standard error',
      new RegExp(`^irisctl: job /${user}/\\S+$`, 'm').test(ran.err),
      ran.err,
    );
    ok('exit code 3', ran.code === 3, ran.code);
  },
};

/** @type {Case} */
const noProgram = {
  name: 'a program that is not there',
  async run({ irisctl, ok }) {
    const ran = await irisctl('job run --cpu 1 -- no-such-program');
    ok('exit code 127', ran.code === 127, ran.code);
    ok('nothing on standard output', ran.out === '', ran.out);
    const line = ran.err.split('\n').find((text) => text.includes('FAILED')) ?? '';
    ok('names the program', line.includes('no-such-program'), line);
    ok(
      'names the cause',
      /not found|no such|does not exist/i.test(line.replaceAll('no-such-program', '')),
      line,
    );
  },
};

/** @type {Case} */
const tooLarge = {
  name: 'more than there is',
  async run({ irisctl, ok }) {
    const ran = await irisctl('job run --cpu 999 --no-wait -- true');
    ok('accepted as pending (0) or refused (125)', ran.code === 0 || ran.code === 125, ran.code);
    ok('the reason names 999', /\b999\b/.test(ran.err), ran.err);
    ok(
      `the reason names what there is (${cores} cores)`,
      new RegExp(`\\b${cores}(\\.0+)?\\b`).test(ran.err),
      ran.err,
    );
    if (ran.code !== 0) return;
    ok('the id is on standard output', new RegExp(`^/${user}/\\S+\\n$`).test(ran.out), ran.out);
    const show = await irisctl(`job show --json ${ran.out.trim()}`);
    const { summary } = /** @type {{summary: Summary}} */ (JSON.parse(show.out));
    ok(
      'it is PENDING with that reason',
      summary.state === 'PENDING' && (summary.waiting?.message ?? '').includes('999'),
      summary,
    );
  },
};

/** @type {Case} */
const replicas = {
  name: 'four replicas',
  async run({ irisctl, ok }) {
    const ran = await irisctl(
      "job run --replicas 4 --job-name four -- sh -c 'echo task $IRIS_TASK_ID of $IRIS_NUM_TASKS'",
    );
    const expected = [0, 1, 2, 3].map((index) => `task /${user}/four/${index} of 4`);
    ok(
      `four whole lines, /${user}/four/0 to 3`,
      ran.out.trimEnd().split('\n').sort().join('|') === expected.join('|'),
      ran.out,
    );
    ok('exit code 0', ran.code === 0, ran.code);
    const again = await irisctl('job logs four --task 2');
    ok('the log can be read again, by name and task', again.out === `task /${user}/four/2 of 4\n`, again.out);
  },
};

/** @type {Case} */
const original = {
  name: "a line as the original's users type it",
  async run({ irisctl, ok }) {
    const ran = await irisctl(
      "--cluster=local job run --cpu=1 --memory=1G --extra=cpu python3 -c 'print(6*7)'",
    );
    ok('42', ran.out === '42\n', ran.out);
    ok('exit code 0', ran.code === 0, ran.code);
  },
};

/** @type {Case} */
const list = {
  name: 'the list for programs',
  async run({ irisctl, ok }) {
    const ran = await irisctl('job list --json');
    ok('exit code 0', ran.code === 0, ran.code);
    const jobs = /** @type {Summary[]} */ (JSON.parse(ran.out));
    ok('an array of jobs, newest first', Array.isArray(jobs) && jobs.length >= 4, jobs.length);
    ok(
      'every id is of this user',
      jobs.every((job) => job.id.startsWith(`/${user}/`)),
      jobs.map((job) => job.id),
    );
    ok(
      'every state is an upper-case word',
      jobs.every((job) => /^[A-Z_]+$/.test(job.state)),
      jobs.map((job) => job.state),
    );
    const by = (/** @type {(job: Summary) => boolean} */ test) =>
      jobs.filter(test).map((job) => [job.state, job.exitCode]);
    const seen = (/** @type {unknown} */ value) => JSON.stringify(value);
    const four = by((job) => job.id === `/${user}/four`);
    ok('four: SUCCEEDED, 0', seen(four) === seen([['SUCCEEDED', 0]]), four);
    const three = by((job) => job.exitCode === 3);
    ok('the one that exits with 3: FAILED', seen(three) === seen([['FAILED', 3]]), three);
    const missing = by((job) => job.cause?.code === 'PROGRAM_NOT_FOUND');
    ok('the missing program: FAILED, 127', seen(missing) === seen([['FAILED', 127]]), missing);
    const waiting = jobs.filter((job) => job.state === 'PENDING');
    ok(
      'all have a state and an exit code, null only while unknown',
      jobs.every((job) => (job.exitCode === null) === (job.state === 'PENDING')),
      jobs.map((job) => [job.state, job.exitCode]),
    );
    ok(
      'at most the one of 999 cores waits',
      waiting.length <= 1,
      waiting.map((job) => job.id),
    );
  },
};

/** @type {Case} */
const interrupt = {
  name: 'Ctrl-C stops the job',
  async run({ irisctl, ok, run, env }) {
    const line = "job run --job-name ctrl-c -- sh -c 'echo $$; exec sleep 600'";
    const ran = await irisctl(line, {
      timeoutMs: 120_000,
      onStart: (signal, output) => {
        const timer = setInterval(() => {
          if (!/^\d+\n/.test(output().out)) return;
          clearInterval(timer);
          signal('SIGINT');
        }, 50);
        setTimeout(() => clearInterval(timer), 120_000).unref();
      },
    });
    ok('exit code 130', ran.code === 130, ran.code);
    const pid = Number(ran.out.trim());
    const alive = await run(`kill -0 ${pid} 2>/dev/null`, { env, quiet: true });
    ok('its process is gone', pid > 1 && alive.code !== 0, { pid });
    const show = await irisctl('job show --json ctrl-c', { quiet: true });
    ok('the job is KILLED', JSON.parse(show.out).summary.state === 'KILLED', show.out.slice(0, 300));
  },
};

/** @type {Case} */
const adopt = {
  name: 'the host ends under a running job, the next one adopts it',
  async run({ irisctl, ok }) {
    const line =
      "job run --no-wait --job-name adopted -- sh -c 'for i in 1 2 3 4 5 6; do echo line $i; sleep 1; done; exit 5'";
    const started = await irisctl(line);
    ok('submitted', started.code === 0, started.err);
    const down = await irisctl('shutdown');
    ok('the host has ended', down.code === 0 && down.out.includes('has ended'), down.out + down.err);
    const status = await irisctl('status');
    ok('none runs now', status.code === 1, status.out);
    const wait = await irisctl('job wait adopted');
    ok('the next host knows its end: exit code 5', wait.code === 5, wait.code);
    const logs = await irisctl('job logs adopted');
    ok(
      'its log is whole',
      logs.out === [1, 2, 3, 4, 5, 6].map((index) => `line ${index}\n`).join(''),
      logs.out,
    );
    const show = await irisctl('job show --json adopted', { quiet: true });
    const { summary, tasks } = JSON.parse(show.out);
    ok('FAILED with exit code 5', summary.state === 'FAILED' && summary.exitCode === 5, summary);
    ok('by its one and only attempt', tasks.length === 1 && tasks[0].attempts.length === 1, tasks);
  },
};

/** @type {Case} */
const killed = {
  name: 'the host is killed while irisctl follows a job',
  async run({ irisctl, ok }) {
    // Any command that needs a host starts one.
    await irisctl('machine list', { quiet: true });
    const { pid } = await hostStatus(irisctl);
    const line = "job run -- sh -c 'for i in 1 2 3 4 5 6; do echo line $i; sleep 1; done; exit 4'";
    let hasKilled = false;
    const ran = await irisctl(line, {
      onStart: (_signal, output) => {
        const timer = setInterval(() => {
          if (pid === undefined || !output().out.includes('line 2\n')) return;
          clearInterval(timer);
          process.kill(pid, 'SIGKILL');
          hasKilled = true;
        }, 50);
        setTimeout(() => clearInterval(timer), 120_000).unref();
      },
    });
    ok('the host was killed', hasKilled, pid);
    ok("the job's exit code, 4", ran.code === 4, ran.code);
    const expected = [1, 2, 3, 4, 5, 6].map((index) => `line ${index}\n`).join('');
    ok('each line once, none missing', ran.out === expected, ran.out);
    const { pid: next } = await hostStatus(irisctl);
    ok('another host is there', next !== undefined && next !== pid, next);
  },
};

/** @type {Case} */
const quitWindow = {
  name: 'the window is quit under a running job and started again',
  apart: true,
  async run(stage) {
    const { irisctl, ok, say, env, home } = stage;
    const shown = { ...env };
    // A machine with a display would show the window to a person.
    delete shown.DISPLAY;
    delete shown.WAYLAND_DISPLAY;
    const seconds = 60;
    // A host without a window would stay the host, and the window be its guest.
    await irisctl('shutdown', { quiet: true });
    const first = await openWindow(stage, shown, (status) => status.host === 'desktop');
    ok('the window is the host', first.host === 'desktop', first);
    const line = `job run --no-wait --job-name quit -- sh -c 'i=1; while [ $i -le ${seconds} ]; do echo tick $i; i=$((i+1)); sleep 1; done'`;
    const submitted = await irisctl(line);
    ok('submitted', submitted.code === 0, submitted.err);
    first.quit();
    const ended = await first.ended;
    say(`the window has quit with exit code ${ended.code}`);
    const between = await hostStatus(irisctl);
    ok(
      'a host without a window has taken over',
      between.host === 'headless' && between.pid !== first.pid,
      between,
    );
    ok('the job runs on', between.counts?.running === 1, between);
    const second = await openWindow(stage, shown, (status) => status.running === true);
    try {
      const wait = await irisctl('job wait quit');
      ok('it ends with exit code 0', wait.code === 0, wait.code);
      const logs = await irisctl('job logs quit', { quiet: true });
      const expected = Array.from({ length: seconds }, (_, index) => `tick ${index + 1}\n`).join('');
      ok('its log is whole', logs.out === expected, logs.out);
      const show = JSON.parse((await irisctl('job show --json quit', { quiet: true })).out);
      ok(
        'by its one and only attempt',
        show.tasks.length === 1 && show.tasks[0].attempts.length === 1,
        show.tasks,
      );
      const inbox = /** @type {{items: {jobId: string, state: string}[]}} */ (
        await callHost(home, 'inbox.list', { limit: 50 })
      );
      const ends = inbox.items.filter((item) => item.jobId === show.summary.id).map((item) => item.state);
      ok('its end is told once in the list of the app', ends.join() === 'SUCCEEDED', ends);
    } finally {
      second.quit();
      await second.ended;
    }
  },
};

/** @typedef {{running?: boolean, host?: string, pid?: number, counts?: {running: number}}} Status */

/** @param {import('./cases.mjs').Stage['irisctl']} irisctl @returns {Promise<Status>} */
async function hostStatus(irisctl) {
  const ran = await irisctl('status --json', { quiet: true });
  return ran.out === '' ? {} : JSON.parse(ran.out);
}

/**
 * Starts the window and waits until there is one and a host like the one wanted.
 * @param {import('./cases.mjs').Stage} stage @param {NodeJS.ProcessEnv} env @param {(status: Status) => boolean} wanted
 */
async function openWindow(stage, env, wanted) {
  const deadline = performance.now() + 120_000;
  let over = false;
  const ended = stage.run('npm start', { env, timeoutMs: 300_000 });
  void ended.then(() => (over = true));
  for (;;) {
    const status = await hostStatus(stage.irisctl);
    const pid = windowProcess(stage.home);
    if (over || (wanted(status) && pid !== null)) {
      return { ...status, ended, quit: () => (pid === null ? undefined : process.kill(pid, 'SIGTERM')) };
    }
    if (performance.now() > deadline) {
      if (pid !== null) process.kill(pid, 'SIGTERM');
      throw new Error(`The window did not come up as wanted: ${JSON.stringify(status)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

/** @type {readonly Case[]} */
export const firstJob = [
  streams,
  noProgram,
  tooLarge,
  replicas,
  original,
  list,
  interrupt,
  adopt,
  killed,
  example,
  quitWindow,
];

/** @type {readonly Case[]} */
export const firstJobBench = [
  {
    name: 'the figures',
    async run({ run, ok }) {
      const ran = await run('npm run bench', { timeoutMs: 30 * 60_000 });
      ok('exit code 0', ran.code === 0, ran.code);
    },
  },
];

/** @type {readonly Case[]} */
export const firstJobTest = [
  {
    name: 'every test',
    async run({ run, ok }) {
      const ran = await run('npm test', { timeoutMs: 30 * 60_000 });
      ok('exit code 0', ran.code === 0, ran.code);
      ok(
        'none failed',
        /^\d+ passed, 0 failed/m.test(ran.out.trimEnd().split('\n').at(-1) ?? ''),
        ran.out.slice(-300),
      );
    },
  },
];

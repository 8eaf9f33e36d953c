/** The scheduling policy as its users meet it: budgets and rights, why a job waits, a dry run, and a preemption from notice to resumption. */
import os from 'node:os';

const user = os.userInfo().username;

/** @typedef {import('./cases.mjs').Case} Case */
/** @typedef {import('./cases.mjs').Stage} Stage */
/** @typedef {{id: string, state: string, preemptionCount: number, waiting: {code: string, message: string} | null}} Summary */
/** @typedef {{state: string, noticeAtMs: number | null, startedAtMs: number | null, finishedAtMs: number | null, cause: {code: string, message: string} | null}} Attempt */
/** @typedef {{summary: Summary, tasks: {attempts: Attempt[]}[]}} Shown */

/** @param {string} text */
const parsed = (text) => JSON.parse(text === '' ? 'null' : text);

/** @type {Case} */
const budgets = {
  name: 'a budget is set and shown',
  async run({ irisctl, ok }) {
    const set = await irisctl('budget set lab-user --limit 1000 --max-band interactive');
    ok('exit code 0', set.code === 0, set.err);
    const list = await irisctl('budget list');
    const line = list.out.split('\n').find((each) => each.includes('lab-user')) ?? '';
    ok('listed with its limit', /\b1,?000\b/.test(line), list.out);
    ok('and its best band', /interactive/i.test(line), line);
    const rows = parsed((await irisctl('budget list --json')).out);
    const row = rows.find((/** @type {{user: string}} */ each) => each.user === 'lab-user');
    ok('for programs as well', row?.limit === 1000 && row?.maxBand === 'INTERACTIVE', row);
  },
};

/** @type {Case} */
const rights = {
  name: 'an upper band needs the right',
  async run({ irisctl, ok }) {
    const refused = await irisctl('job run --cpu 1 --priority production -- true');
    ok('refused with exit code 125', refused.code === 125, refused.code);
    ok(
      'names the right and who has to ask for it',
      /PRODUCTION.*needs the right/s.test(refused.err),
      refused.err,
    );
    const command = `irisctl budget set ${user} --allow production`;
    ok('and the command that grants it', refused.err.includes(command), refused.err);
    await irisctl(`budget set ${user} --allow production`);
    const after = await irisctl('job run --cpu 1 --priority production -- true');
    ok('after that it runs: exit code 0', after.code === 0, after.err);
  },
};

/** @type {Case} */
const explained = {
  name: 'why a job waits, and what would help',
  async run({ irisctl, ok }) {
    const sent = await irisctl('job run --gpu H100x8 --no-wait --job-name wants-gpus -- true');
    ok('accepted: exit code 0', sent.code === 0, sent.err);
    const told = await irisctl('job explain wants-gpus');
    ok('exit code 0', told.code === 0, told.err);
    ok('what it needs: 8 of H100', /\b8 h100 GPUs?\b/i.test(told.out), told.out);
    ok('what there is', /there (is|are):? (no GPU|\d+ )/i.test(told.out), told.out);
    const { reasons, remedies, short } = parsed((await irisctl('job explain wants-gpus --json')).out);
    ok(
      'the reason as data',
      reasons?.[0]?.need?.gpuCount === 8 && reasons[0].need.gpuVariant === 'h100',
      reasons,
    );
    ok('what would help, or that nothing here does', Array.isArray(remedies), remedies);
    ok('and one short line for lists', typeof short === 'string' && short.length <= 60, short);
    await irisctl('job stop wants-gpus', { quiet: true });
  },
};

/** @type {Case} */
const dryRun = {
  name: 'a dry run submits nothing',
  async run({ irisctl, ok }) {
    const before = parsed((await irisctl('job list --json --limit 0', { quiet: true })).out).length;
    const ran = await irisctl('job run --dry-run --cpu 1 -- true');
    ok('exit code 0', ran.code === 0, ran.err);
    const machines = parsed((await irisctl('machine list --json', { quiet: true })).out);
    const [machine] = machines.machines ?? machines;
    ok(
      'it would start now, and where',
      ran.out.includes('Starts now') && ran.out.includes(machine.id),
      ran.out,
    );
    const lacking = await irisctl('job run --dry-run --cwd /no/such/folder -- true');
    ok(
      'that the working folder is not there is said',
      lacking.code === 0 &&
        lacking.out.includes(`/no/such/folder: expected a folder that exists on ${machine.id}`),
      lacking.out + lacking.err,
    );
    const after = parsed((await irisctl('job list --json --limit 0', { quiet: true })).out).length;
    ok('nothing was submitted', after === before, { before, after });
  },
};

/** @type {Case} */
const preemption = {
  name: 'PRODUCTION takes the place of BATCH, which resumes',
  async run({ irisctl, ok }) {
    const cores = os.availableParallelism();
    // It checkpoints when it is told, and goes on from there when it runs again.
    const script = [
      'echo from $(cat "$IRIS_ACCEPT_STATE" 2>/dev/null || echo 0)',
      'trap "cp $IRIS_WORKDIR/preemption.json $IRIS_ACCEPT_STATE.notice; echo 7 >$IRIS_ACCEPT_STATE; touch $IRIS_CHECKPOINT_FILE; sleep 1; exit 0" TERM',
      'echo ready',
      'while :; do sleep 0.1; done',
    ].join('; ');
    const state = `/tmp/iris-accept-state-${process.pid}`;
    const batch = await irisctl(
      `job run --no-wait --job-name filler --cpu ${cores} --priority batch -e IRIS_ACCEPT_STATE ${state} -- sh -c '${script}'`,
      {
        shownAs: `irisctl job run --no-wait --job-name filler --cpu ${cores} --priority batch -- sh -c '...'`,
      },
    );
    ok('BATCH fills the machine', batch.code === 0, batch.err);
    await until(irisctl, 'job logs filler', (ran) => ran.out.includes('ready'));
    const hot = await irisctl(`job run --job-name hot --cpu ${cores} --priority production -- sleep 1`);
    ok('PRODUCTION ran: exit code 0', hot.code === 0, hot.err);
    ok('it was told whom it waits for', hot.err.includes(`waits until /${user}/filler/0 has left`), hot.err);
    await until(irisctl, 'job logs filler', (ran) => ran.out.includes('from 7'));
    const shown = /** @type {Shown} */ (parsed((await irisctl('job show filler --json')).out));
    const [first, second] = shown.tasks[0]?.attempts ?? [];
    ok('BATCH was given notice', first?.noticeAtMs !== null && first?.noticeAtMs !== undefined, first);
    ok(
      'and evicted for PRODUCTION by name',
      first?.state === 'PREEMPTED' && first.cause?.message.includes(`/${user}/hot`) === true,
      first?.cause,
    );
    ok(
      'it resumed from its checkpoint',
      second?.state === 'RUNNING' && shown.summary.preemptionCount === 1,
      second,
    );
    const { reason, deadline } = parsed((await import('node:fs')).readFileSync(`${state}.notice`, 'utf8'));
    const graceMs = Date.parse(deadline) - (first?.noticeAtMs ?? 0);
    ok(
      'preemption.json named the reason and 30 s of grace',
      reason.includes(`/${user}/hot`) && graceMs === 30_000,
      {
        reason,
        graceMs,
      },
    );
    const hotShown = /** @type {Shown} */ (parsed((await irisctl('job show hot --json')).out));
    const [ran] = hotShown.tasks[0]?.attempts ?? [];
    ok(
      'PRODUCTION started only after BATCH was verified gone',
      (ran?.startedAtMs ?? 0) >= (first?.finishedAtMs ?? Number.POSITIVE_INFINITY),
      { ran, first },
    );
    await irisctl('job stop --wait filler', { quiet: true });
    const fs = await import('node:fs');
    for (const name of [state, `${state}.notice`]) fs.rmSync(name, { force: true });
  },
};

/** @param {Stage['irisctl']} irisctl @param {string} line @param {(ran: import('./commands.mjs').Ran) => boolean} holds */
async function until(irisctl, line, holds) {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const ran = await irisctl(line, { quiet: true });
    if (holds(ran)) return;
    if (Date.now() > deadline)
      throw new Error(`${line}: not as expected after 120 s; last: ${ran.out} ${ran.err}`);
  }
}

/** @type {Case} */
const activity = {
  name: 'every step of it is in Activity, under both jobs',
  async run({ home, ok, say }) {
    const { callHost } = await import('./call-host.mjs');
    const rows = /** @param {string} entity */ async (entity) => {
      const answer = await callHost(home, 'audit.list', { entity, limit: 200 });
      const { events } = /** @type {{events: {action: string}[]}} */ (answer);
      return events.map((event) => event.action);
    };
    const filler = await rows(`/${user}/filler`);
    for (const action of [
      'attempt_notified',
      'attempt_ended',
      'task_retry_scheduled',
      'attempt_verified_gone',
    ])
      ok(`filler: ${action}`, filler.includes(action), filler);
    const hot = await rows(`/${user}/hot`);
    for (const action of ['task_claimed', 'task_assigned', 'job_completed'])
      ok(`hot: ${action}`, hot.includes(action), hot);
    say(`filler: ${[...filler].reverse().join(', ')}`);
    say(`hot: ${[...hot].reverse().join(', ')}`);
  },
};

/** @type {readonly Case[]} */
export const scheduling = [budgets, rights, explained, dryRun, preemption, activity];

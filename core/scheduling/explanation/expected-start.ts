/** When a job is expected to start, and what that assumes. */
import type { Assumption, ExpectedStart } from '../../contract/explanation.js';
import { timeText } from '../../formats/times.js';
import type { ProjectedStart, Projection } from './projection.js';
import { tasksText } from './words.js';

/** What a projection says of a job that waited when it was made. */
export function whenOf(projection: Projection, jobId: string): ExpectedStart {
  const { madeAtMs, untilMs, complete } = projection;
  const found = projection.starts.get(jobId) ?? null;
  const assumptions = assumptionsOf(projection, found);
  if (found !== null) {
    const { startMs } = found;
    if (startMs <= madeAtMs) return { kind: 'now', startMs, madeAtMs, text: 'Starts now.', assumptions };
    return {
      kind: 'at',
      startMs,
      madeAtMs,
      text: `Expected to start at ${timeText(startMs)}, by known time limits.`,
      assumptions,
    };
  }
  if (!complete) {
    const text = `Starts after ${timeText(untilMs)}; further ahead nobody has looked.`;
    return { kind: 'after', startMs: untilMs, madeAtMs, text, assumptions };
  }
  const text = 'Nobody knows when it starts: nothing that is known to end makes room for it.';
  return { kind: 'unknown', startMs: null, madeAtMs, text, assumptions };
}

function assumptionsOf(projection: Projection, found: ProjectedStart | null): Assumption[] {
  const assumptions: Assumption[] = [
    { code: 'NO_NEW_WORK', text: 'Nothing more is submitted.' },
    { code: 'MACHINES_STAY', text: 'The machines stay as they are.' },
  ];
  if (found === null || found.ends > 0) {
    const text =
      found === null
        ? 'What has a time limit runs to it.'
        : `What has a time limit runs to it: ${tasksText(found.ends)} ${found.ends === 1 ? 'ends' : 'end'} before.`;
    assumptions.push({ code: 'RUNS_TO_LIMIT', text });
  }
  if (projection.endless > 0) {
    const text = `${tasksText(projection.endless)} without a time limit ${projection.endless === 1 ? 'does' : 'do'} not end.`;
    assumptions.push({ code: 'ENDLESS', text });
  }
  if (found?.endsWell === true)
    assumptions.push({ code: 'ENDS_WELL', text: 'The jobs it depends on succeed.' });
  if ((found?.evictions ?? 0) > 0)
    assumptions.push({ code: 'LEAVES_AT_ONCE', text: 'What has to leave does so at once.' });
  return assumptions;
}

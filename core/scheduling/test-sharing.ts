/** What tests of decisions ask of cards that are shared. */
import type { Decision } from './decision.js';
import type { RoundInput } from './replay.js';
import { minute } from './test-cluster.js';

/** What starts on a card fits beside what counts of it, and no card is shared that may not be. */
export function sharedRight(input: RoundInput, decision: Decision): string[] {
  const started = decision.placed.filter(({ waitsFor }) => waitsFor.length === 0);
  return input.workers.flatMap((machine) =>
    machine.gpus.flatMap(({ uuid, memory = null }) => {
      const on = ({ workerId, devices }: { workerId: string; devices: readonly string[] }) =>
        workerId === machine.id && devices.includes(uuid);
      const news = started.filter(on).map(({ jobId }) => sharedBy(input, jobId));
      const before = input.attempts.filter(on);
      const olds = before.map(({ sharedGpuBytes = null }) => sharedGpuBytes);
      if (news.length === 0 || (olds.length === 0 && news.length === 1 && news[0] === null)) return [];
      if ([...news, ...olds].includes(null)) return [`${uuid}: shared with one that does not`];
      if (memory === null) return news.length + olds.length === 1 ? [] : [`${uuid}: shared unseen`];
      const fresh = before.filter(
        ({ state, startedAtMs }) =>
          (state !== 'RUNNING' && state !== 'ENDING') || input.nowMs - (startedAtMs ?? 0) < 5 * minute,
      );
      const said = [...fresh.map(({ sharedGpuBytes = null }) => sharedGpuBytes), ...news];
      const counted = said.reduce<number>((sum, bytes) => sum + (bytes ?? 0), memory.usedBytes);
      const problems = counted > memory.totalBytes * 0.95 ? [`${uuid}: ${counted} counted`] : [];
      return news.length + olds.length > 4 ? [...problems, `${uuid}: too many`] : problems;
    }),
  );
}

function sharedBy(input: RoundInput, jobId: string): number | null {
  return input.jobs.find(({ job }) => job.id === jobId)?.job.sharedGpuBytes ?? null;
}

import { expect, test } from 'vitest';
import { RoundDecoder, RoundEncoder, type RecordedRound } from './record.js';
import { differences, inputOf, replay } from './replay.js';
import { cards, TestCluster, worker } from './test-cluster.js';

function rounds(): RecordedRound[] {
  const cluster = new TestCluster([worker('w1', { gpus: cards(2) }), worker('w2')]);
  const recorded: RecordedRound[] = [];
  const round = () => {
    const input = inputOf(cluster.cluster, cluster.nowMs, cluster.rules);
    recorded.push({ input, decision: cluster.round() });
    cluster.nowMs += 1000;
  };
  for (let at = 0; at < 30; at += 1) cluster.submit(`/ann/j${at}`, { tasks: 2 });
  round();
  cluster.submit('/bob/hot', { band: 'PRODUCTION', cpu: 4 });
  round();
  cluster.allGone();
  round();
  cluster.cluster.removeJob('/ann/j29');
  round();
  return recorded;
}

test('every round is read back and decided again to the same', () => {
  const encoder = new RoundEncoder();
  const lines = rounds().map((round) => encoder.encode(round));
  const decoder = new RoundDecoder();
  for (const [at, line] of lines.entries()) {
    const { input, decision } = decoder.decode(line);
    expect(JSON.stringify(decision)).toBe(JSON.stringify(rounds()[at]?.decision));
    expect(differences(replay(input), decision)).toEqual([]);
  }
});

test('what did not change is not written again', () => {
  const encoder = new RoundEncoder();
  const [first = '', ...others] = rounds().map((round) => encoder.encode(round));
  expect(first).toContain('"id":"w1"');
  for (const line of others) expect(line).not.toContain('"id":"w1"');
});

test('a decision that another build would make shows as a difference', () => {
  const [first] = rounds();
  const decoder = new RoundDecoder();
  const text =
    first === undefined
      ? ''
      : new RoundEncoder().encode({ ...first, decision: { ...first.decision, placed: [] } });
  const { input, decision } = decoder.decode(text);
  expect(differences(replay(input), decision)).toEqual(['placed']);
});

test('a record of another format is named', () => {
  expect(() => new RoundDecoder().decode('{"format":9,"lists":{}}')).toThrow(
    'Format 9 of a record is not known; expected 1.',
  );
});

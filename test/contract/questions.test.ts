/** What is refused of answers and of connecting by hand, by code, and never with the answer in it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectedWorker, fleetHost, type FleetHost } from '../harness/fake-fleet.js';
import { refusalOf } from '../harness/host-jobs.js';

let host: FleetHost;

beforeEach(async () => {
  host = await fleetHost();
});
afterEach(async () => {
  await host.dispose();
});

const secret = 'open-sesame';
const answer = (text: unknown, questionId = 'q1') =>
  refusalOf(host.client.call('question.answer', { questionId, answer: text as string, keep: false }));

test('an answer to what nobody asks, and one that is none', async () => {
  expect(await answer(secret)).toMatchObject({ code: 'NOT_FOUND', message: 'This is not asked any more.' });
  const long = await answer(secret.repeat(100));
  expect(long).toMatchObject({ code: 'INVALID_ARGUMENT', fields: [] });
  const lines = await answer(`${secret}\n${secret}`);
  expect(lines.message).toBe('An answer is one line of at most 1024 characters.');
  const wrong = await answer({ text: secret });
  expect(wrong.code).toBe('INVALID_ARGUMENT');
  expect(JSON.stringify([long, lines, wrong])).not.toContain(secret);
});

test('connecting by hand says why it could not, and whether an answer is missing', async () => {
  host.fleet.show(connectedWorker('two'));
  await host.client.call('machine.add', { requestId: 'request-1', name: 'two', address: 'ssh://two' });
  const connect = (machineId = 'two') => host.client.call('machine.connect', { machineId });
  expect(await connect()).toEqual({});
  host.fleet.failure = { message: 'Nothing answers at two.', isUnanswered: false };
  expect(await refusalOf(connect())).toMatchObject({
    code: 'UNREACHABLE',
    message: 'two is not in contact. Nothing answers at two.',
  });
  host.fleet.failure = { message: 'Run ssh-add.', isUnanswered: true };
  expect((await refusalOf(connect())).code).toBe('ANSWER_NEEDED');
  expect((await refusalOf(connect('tow'))).code).toBe('NOT_FOUND');
});

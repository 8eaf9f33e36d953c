/** What is told before a job is submitted whose containers could be given no cards, here and on a machine by SSH. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { plainGpu } from '../../core/contract/gpus.js';
import type { JobRequest } from '../../core/contract/job-request.js';
import { noCardsNote } from '../../core/formats/display-vendors.js';
import { connectedWorker, fleetHost, type FleetHost } from '../harness/fake-fleet.js';
import { eventually } from '../harness/eventually.js';
import { shell } from '../harness/host-jobs.js';

let host: FleetHost;

beforeEach(async () => {
  host = await fleetHost();
});
afterEach(async () => {
  await host.dispose();
});

const card = { ...plainGpu, uuid: 'GPU-a', index: 0, name: 'NVIDIA GeForce RTX 3060', variant: 'rtx-3060' };

async function add(name: string, more: Parameters<typeof connectedWorker>[1]): Promise<void> {
  host.fleet.show(connectedWorker(name, more));
  await host.client.call('machine.add', { requestId: randomUUID(), name, address: `ssh://${name}` });
  const contact = async () =>
    (await host.client.call('machine.list', {})).machines.find(({ id }) => id === name)?.contact.state;
  await eventually(contact).toBe('CONNECTED');
}

const request = (more: Partial<JobRequest>): JobRequest => shell('true', { image: 'a:1', gpu: 1, ...more });
const check = async (more: Partial<JobRequest>) =>
  (await host.client.call('job.check', { request: request(more) })).message;

test('no runtime for them is said in the check and with the answer to a submission', async () => {
  const docker = { state: 'READY', version: '28.1', gpus: false, message: null } as const;
  await add('two', { gpus: [card], gpuNote: null, docker });
  const said = /^Starts now on two\. Docker on two shows no way to give GPUs to containers/;
  expect(await check({ machine: 'two' })).toMatch(said);
  expect(await check({ machine: 'two', image: undefined })).toBe('Starts now on two.');
  const submitted = await host.client.call('job.submit', {
    requestId: randomUUID(),
    request: request({ machine: 'two' }),
    retryOf: null,
  });
  expect(submitted.warnings.join(' ')).toContain('Docker on two shows no way to give GPUs to containers');
});

test('cards that are none of NVIDIA are named as such, of whichever machine', async () => {
  await add('two', { gpus: [], gpuNote: noCardsNote(['0x1002']) });
  const said = 'there are AMD graphics, but jobs can be given NVIDIA cards only';
  expect(await check({ machine: 'two' })).toContain(said);
  // The first of the machines has another reason.
  expect(await check({})).toContain(said);
});

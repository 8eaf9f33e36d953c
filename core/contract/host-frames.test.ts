import { expect, test } from 'vitest';
import { readHostFrame, readRefusal } from './host-frames.js';

const refusal = {
  code: 'INVALID_ARGUMENT',
  message: 'cpu: 0 is too little.',
  fields: [{ field: 'cpu', value: '0', expected: 'more than 0' }],
};

test.each([
  { kind: 'result', id: 1, value: { rows: [] } },
  { kind: 'result', id: 1, value: undefined },
  { kind: 'refused', id: Number.MAX_SAFE_INTEGER, refusal },
  { kind: 'snapshot', id: 7, value: null },
  { kind: 'delta', id: 7, seq: 1, value: [1] },
])('a frame of a host is read as it is: %j', (frame) => {
  expect(readHostFrame(frame)).toEqual(frame);
});

test.each([
  ['nothing', null],
  ['a text', 'result'],
  ['a list', [{ kind: 'result', id: 1, value: 1 }]],
  ['no kind', { id: 1, value: 1 }],
  ['a kind of a client', { kind: 'call', id: 1, value: 1 }],
  ['no id', { kind: 'result', value: 1 }],
  ['an id below 1', { kind: 'result', id: 0, value: 1 }],
  ['a broken id', { kind: 'result', id: 1.5, value: 1 }],
  ['an id too large to count on', { kind: 'result', id: Number.MAX_SAFE_INTEGER + 1, value: 1 }],
  ['an id as text', { kind: 'result', id: '1', value: 1 }],
  ['a surplus field', { kind: 'result', id: 1, value: 1, extra: true }],
  ['a delta without a number', { kind: 'delta', id: 1, value: 1 }],
  ['a delta numbered 0', { kind: 'delta', id: 1, seq: 0, value: 1 }],
  ['a refusal that is none', { kind: 'refused', id: 1, refusal: { code: 'NO_SUCH_CODE', message: '' } }],
  ['a refusal with a surplus field', { kind: 'refused', id: 1, refusal, value: 1 }],
])('%s is no frame of a host', (_what, input) => {
  expect(readHostFrame(input)).toBeNull();
});

test('a refusal without fields has none', () => {
  expect(readRefusal({ code: 'NOT_FOUND', message: 'No such job.' })).toEqual({
    code: 'NOT_FOUND',
    message: 'No such job.',
    fields: [],
  });
});

test.each([
  ['a code that every object has', { ...refusal, code: 'toString' }],
  ['no message', { code: 'INTERNAL', fields: [] }],
  ['fields that are no list', { ...refusal, fields: { field: 'cpu' } }],
  ['a field without its value', { ...refusal, fields: [{ field: 'cpu', expected: 'more' }] }],
  ['a field with more', { ...refusal, fields: [{ ...refusal.fields[0], more: '' }] }],
])('%s makes no refusal', (_what, input) => {
  expect(readRefusal(input)).toBeNull();
});

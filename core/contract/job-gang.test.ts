import { expect, test } from 'vitest';
import { parseJobRequest } from './job-request.js';

const expected = 'at least 4, or nothing: the 4 tasks of a gang start together';

test.each([
  [
    'fewer tasks at once than the gang has',
    { gangBy: 'rack', maxActive: 3 },
    [{ field: 'maxActive', value: '3', expected }],
  ],
  ['all of them', { gangBy: 'rack', maxActive: 4 }, []],
  ['fewer tasks at once of what is no gang', { maxActive: 3 }, []],
])('a gang starts whole: %s', (_, asked, errors) => {
  const parsed = parseJobRequest({ command: ['train'], workingDirectory: '/w', replicas: 4, ...asked });
  expect(parsed.ok ? [] : parsed.refusal.fields).toEqual(errors);
});

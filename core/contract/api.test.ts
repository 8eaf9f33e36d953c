import { expect, test } from 'vitest';
import { methods } from './api.js';

test.each([
  ['sha256:0f3a', true],
  ['busybox:1.36', true],
  ['x?force=1&', false],
  ['../containers/x', false],
  ['a%2f..', false],
  ['', false],
])('an image to be removed may be called %j: %s', (imageId, may) => {
  expect(methods['image.remove'].params.safeParse({ machineId: 'here', imageId }).success).toBe(may);
});

import { describe, expect, test } from 'vitest';
import { dataFolders, isFull, roomWarning } from './data-room.js';

const room = (totalBytes: number, freeBytes: number) => ({ path: '/var/lib/docker', totalBytes, freeBytes });
const gib = 1024 ** 3;

describe('the room where an Engine keeps its data', () => {
  test.each([
    ['half free', room(100 * gib, 50 * gib), null],
    ['a tenth free', room(100 * gib, 10 * gib), null],
    ['large, with more free than an image takes', room(4000 * gib, 100 * gib), null],
    ['less than a tenth free', room(100 * gib, 9 * gib), 'has 9 GiB of 100 GiB free. Images that do not fit'],
    ['full', room(100 * gib, 4096), 'has 4 KiB of 100 GiB free. Nothing more can be pulled or started'],
    ['small and full', room(8 * 1024 ** 2, 1024 ** 2 - 1), 'Nothing more can be pulled'],
  ])('%s', (_, one, said) => {
    if (said === null) expect(roomWarning(one)).toBeNull();
    else expect(roomWarning(one)).toContain(said);
  });

  test('is full when nothing of use can be written', () => {
    expect([isFull(room(gib, 0)), isFull(room(gib, 1024 ** 2)), isFull(room(gib, gib))]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('is also where containerd keeps the images', () => {
    expect(dataFolders({ root: '/data', driverStatus: [['Backing Filesystem', 'extfs']] })).toEqual([
      '/data',
    ]);
    const driverStatus = [['driver-type', 'io.containerd.snapshotter.v1']];
    expect(dataFolders({ root: '/data', driverStatus })).toEqual(['/data', '/var/lib/containerd']);
    expect(dataFolders({ root: null, driverStatus: [] })).toEqual([]);
  });
});

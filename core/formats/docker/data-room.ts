/** The room where an Engine keeps its images, containers and their logs, and when there is too little of it. */
import { formatSize } from '../sizes.js';

export interface DataRoom {
  /** On the Engine's machine. */
  readonly path: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
}

/** The least that writing anything of use takes: with less it is full. */
const fullBelowBytes = 1024 ** 2;
/** With less than this share left, and less than an image of a training framework takes, it is told before it is full. */
const lowShare = 0.1;
const lowBytes = 20 * 1024 ** 3;

export function isFull({ freeBytes }: DataRoom): boolean {
  return freeBytes < fullBelowBytes;
}

/** Null: there is room. */
export function roomWarning(room: DataRoom): string | null {
  const { totalBytes, freeBytes } = room;
  const low = freeBytes < lowBytes && freeBytes < totalBytes * lowShare;
  if (!isFull(room) && !low) return null;
  return `${roomSentence(room)} ${isFull(room) ? 'Nothing more can be pulled or started, and what containers write is lost.' : 'Images that do not fit any more cannot be pulled.'} ${roomAdvice}`;
}

export function roomSentence({ path, totalBytes, freeBytes }: DataRoom): string {
  return `${path}, where Docker keeps its data, has ${formatSize(freeBytes)} of ${formatSize(totalBytes)} free.`;
}

/** They lie with the logs of jobs, which may be the same disk or another. */
export const cachesAdvice =
  'On the disk with the logs of jobs, irisctl docker caches shows what the caches of containers take, and with --empty frees it.';

export const roomAdvice = `Make room there: docker system df shows what takes it, irisctl image remove and docker system prune free it. ${cachesAdvice}`;

/** Which folders an Engine keeps its data in, by its own word: with containerd's snapshots the images are not below its root. */
export function dataFolders(info: {
  readonly root: string | null;
  readonly driverStatus: readonly (readonly string[])[];
}): readonly string[] {
  const inContainerd = info.driverStatus.some(
    ([name, value]) => name === 'driver-type' && value?.startsWith('io.containerd.snapshotter') === true,
  );
  return [...(info.root === null ? [] : [info.root]), ...(inContainerd ? ['/var/lib/containerd'] : [])];
}

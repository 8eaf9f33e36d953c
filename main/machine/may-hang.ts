/** Whether a look at a path may wait for somebody who does not answer. Told without such a look, by the table of mounts. */
import { readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';

/** What answers by itself. Any other type may need a server, or a program. */
const local =
  /^(ext[234]|xfs|btrfs|bcachefs|zfs|f2fs|jfs|reiserfs|tmpfs|ramfs|rootfs|overlay|aufs|ecryptfs|squashfs|erofs|iso9660|udf|vfat|exfat|msdos|ntfs3?|hfsplus|apfs|proc|sysfs|devtmpfs|devpts|mqueue|hugetlbfs|cgroup2?|fuseblk)$/;
const mostLinks = 40;

/** Types of file systems by the folder they are mounted at, the last of several. */
export type Mounts = ReadonlyMap<string, string>;

export function mountsOf(mountInfo: string): Mounts {
  const mounts = new Map<string, string>();
  for (const line of mountInfo.split('\n')) {
    const [front, back] = line.split(' - ');
    const point = front?.split(' ')[4];
    const type = back?.split(' ')[0];
    if (point === undefined || type === undefined) continue;
    const unescape = (_: string, octal: string): string => String.fromCharCode(Number.parseInt(octal, 8));
    const bytes = point.replace(/\\([0-7]{3})/g, unescape);
    mounts.set(Buffer.from(bytes, 'latin1').toString('utf8'), type);
  }
  return mounts;
}

/** Empty where the system tells of mounts in another way. */
export function readMountInfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'latin1');
  } catch {
    return '';
  }
}

/** Follows links only as long as they lie where nothing can hang. */
export function mayHang(target: string, mounts: Mounts): boolean {
  if (mounts.size === 0) return false;
  const rest = path.resolve(target).split('/').filter(Boolean).reverse();
  let type = mounts.get('/') ?? 'rootfs';
  /** The folders on the way, each with what it lies on. */
  let way: { readonly at: string; readonly type: string }[] = [{ at: '', type }];
  for (let links = 0; links <= mostLinks;) {
    if (!local.test(type)) return true;
    const part = rest.pop();
    if (part === undefined) return false;
    if (part === '.') continue;
    if (part === '..') {
      if (way.length > 1) way.pop();
      type = way.at(-1)?.type ?? type;
      continue;
    }
    const at = `${way.at(-1)?.at ?? ''}/${part}`;
    const mounted = mounts.get(at);
    const link = mounted === undefined ? linkOf(at) : null;
    if (link === undefined) return false;
    if (link === null) {
      type = mounted ?? type;
      way.push({ at, type });
      continue;
    }
    links += 1;
    rest.push(...link.split('/').filter(Boolean).reverse());
    if (link.startsWith('/')) {
      way = way.slice(0, 1);
      type = way[0]?.type ?? type;
    }
  }
  return false;
}

/** Null: it is none. Undefined: it is not there, or may not be looked at. */
function linkOf(file: string): string | null | undefined {
  try {
    return readlinkSync(file);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EINVAL' ? null : undefined;
  }
}

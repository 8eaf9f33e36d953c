/** What kind of file system a path lies on: a database and a socket are safe on local ones only. */
import { readFileSync, statfsSync } from 'node:fs';
import path from 'node:path';

/** Numbers of statfs(2), as the kernel has them in its headers. */
const networkTypes: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x564c, 'NCP'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x19830326, 'BeeGFS'],
  [0x01021997, '9P'],
  [0x65735546, 'FUSE'],
]);

/** File systems a user mounts over the network are FUSE ones too; a local FUSE one (an encrypted home) is told apart by the mount's type. */
const networkFuse =
  /^fuse\.(sshfs|s3fs|gcsfuse|glusterfs|ceph|rclone|davfs|cifs|smb|nfs|gvfsd-fuse|mfs|lizardfs|juicefs|afp)/i;

/** The name of the network file system a path lies on (or would, when it does not exist yet); null when it is local. */
export function networkFileSystem(target: string, mountInfo: () => string = readMountInfo): string | null {
  const type = typeOf(path.resolve(target));
  if (type === null) return null;
  const name = networkTypes.get(type >>> 0);
  if (name !== 'FUSE') return name ?? null;
  const mount = fuseMountType(path.resolve(target), mountInfo());
  return mount !== null && networkFuse.test(mount) ? mount.replace(/^fuse\./i, '') : null;
}

function typeOf(target: string): number | null {
  for (let folder = target; ; folder = path.dirname(folder)) {
    try {
      return statfsSync(folder).type;
    } catch {
      if (path.dirname(folder) === folder) return null; // no such call here
    }
  }
}

function readMountInfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}

/** Type of the mount that holds the path: the longest mount point that is a part of it, the last of several. */
export function fuseMountType(target: string, mountInfo: string): string | null {
  let best: { readonly point: string; readonly type: string } | null = null;
  for (const line of mountInfo.split('\n')) {
    const [front, back] = line.split(' - ');
    const point = front
      ?.split(' ')[4]
      ?.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    const type = back?.split(' ')[0];
    if (point === undefined || type === undefined) continue;
    const inside = target === point || target.startsWith(point.endsWith('/') ? point : `${point}/`);
    if (inside && (best === null || point.length >= best.point.length)) best = { point, type };
  }
  return best?.type ?? null;
}

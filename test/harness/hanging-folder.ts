/** A folder on a file system that never answers, as of a server that is gone. Needs root. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

/** Null: there can be one here. */
export const hangingObstacle =
  process.getuid?.() !== 0 ? 'needs root' : existsSync('/dev/fuse') ? null : 'needs FUSE';

/** Mounts it and reads none of what it is asked, until its input ends. */
const serve = `
$^F = 100; $| = 1;
open my $asked, '+<', '/dev/fuse' or die "/dev/fuse: $!";
my $options = 'fd=' . fileno($asked) . ',rootmode=40000,user_id=0,group_id=0,allow_other';
system('mount', '-i', '-t', 'fuse', '-o', $options, 'hangs', $ARGV[0]) == 0 or exit 1;
print "hangs\\n";
<STDIN>;
`;

export interface HangingFolder {
  /** Whoever waits for it gets an error. */
  release(): Promise<void>;
}

/** `inside`: what comes before a command that shall run where the folder is to be. */
export async function hangingFolder(folder: string, inside: readonly string[] = []): Promise<HangingFolder> {
  const [program, ...args] = [...inside, 'perl', '-e', serve, folder];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const mounted = await Promise.race([once(child.stdout, 'data').then(() => true), gone.then(() => false)]);
  if (!mounted) throw new Error(`nothing could be mounted at ${folder}`);
  return {
    release: async () => {
      child.stdin.end();
      await gone;
      const [umount, ...rest] = [...inside, 'umount', '-l', folder];
      spawnSync(umount, rest);
    },
  };
}

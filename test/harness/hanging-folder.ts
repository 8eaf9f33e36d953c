/** A folder on a file system that never answers, as of a server that is gone. Needs root. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

/** Null: there can be one here. */
export const hangingObstacle =
  process.getuid?.() !== 0 ? 'needs root' : existsSync('/dev/fuse') ? null : 'needs FUSE';

/**
 * Mounts it and answers none of what it is asked, until its input ends. Whoever asks can be killed as long as his question is not read;
 * with a second argument what is asked is read as well (after the first, which is the protocol's own, was answered).
 */
const serve = `
$^F = 100; $| = 1;
open my $asked, '+<', '/dev/fuse' or die "/dev/fuse: $!";
my $options = 'fd=' . fileno($asked) . ',rootmode=40000,user_id=0,group_id=0,allow_other';
system('mount', '-i', '-t', 'fuse', '-o', $options, 'hangs', $ARGV[0]) == 0 or exit 1;
my $reader = $ARGV[1] ? fork : 0;
if ($ARGV[1] && !$reader) {
  sysread $asked, my $first, 1 << 20;
  my (undef, undef, $number) = unpack 'L L Q', $first;
  my $answer = pack 'L4 S2 L4 L7', 7, 31, 65536, 0, 16, 12, 65536, 1, 0, 0, (0) x 7;
  syswrite $asked, pack('L l Q', 16 + length $answer, 0, $number) . $answer;
  print "hangs\\n";
  1 while sysread $asked, my $question, 1 << 20;
  exit;
}
print "hangs\\n" if !$reader;
<STDIN>;
kill 'KILL', $reader if $reader;
`;

export interface HangingFolder {
  /** Whoever waits for it gets an error. */
  release(): Promise<void>;
}

/** `inside`: what comes before a command that shall run where the folder is to be. `unkillable`: who waits for it can not even be killed. */
export async function hangingFolder(
  folder: string,
  inside: readonly string[] = [],
  unkillable = false,
): Promise<HangingFolder> {
  const [program, ...args] = [...inside, 'perl', '-e', serve, folder, unkillable ? 'read' : ''];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  const mounted = await Promise.race([once(child.stdout, 'data').then(() => true), gone.then(() => false)]);
  if (!mounted) throw new Error(`nothing could be mounted at ${folder}`);
  return {
    release: async () => {
      // First, so that nobody meets what is left of a file system whose server is gone; by its name alone, as to look at it would hang.
      const [umount, ...rest] = [...inside, 'umount', '-c', '-l', folder];
      spawnSync(umount, rest);
      child.stdin.end();
      await gone;
    },
  };
}

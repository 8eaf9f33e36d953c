# Starts attempts for a host: a process small enough that a fork of it costs next to nothing. Perl as a base system has it, and no
# module beyond POSIX. fork-server.py does the same. It keeps nothing: when its host goes it goes, what it started lives on in sessions of its own.
#
# Frames come in on the standard input: a length, then texts, each with its length before it (32 bits, big-endian). The first
# text names the kind:
#   setup  ATTEMPTS-FOLDER, then names and values of the environment every attempt has underneath
#   start  UID, working folder, then three lists with their lengths before them: the command up to the program, files the program
#          may be, the arguments after it; then names and values of the attempt's own environment
# Words go out on the standard output, a line each:
#   ready PID REAPER               the process that orphans are handed to, 0 when that is not known
#   started UID PID
#   claimed UID                    somebody has this attempt already
#   fault UID STEP DETAIL...       nothing was started
#   ended UID PID STATUS ALIVE N   its group lives or not; N bytes of its claim file follow the line
use strict;
use warnings;
use POSIX ();

$0 = 'iris-launcher';
# Off the first three, so that whatever is started gets none of them: Perl closes what is above at an exec.
open(my $in, '<&', \*STDIN) && open(my $out, '>&', \*STDOUT) && open(my $err, '>&', \*STDERR) or die "dup: $!";
$SIG{__WARN__} = sub { syswrite $err, $_[0] };
$SIG{__DIE__} = sub { syswrite $err, $_[0] };
open(STDIN, '<', '/dev/null') && open(STDOUT, '>', '/dev/null') && open(STDERR, '>', '/dev/null')
  or die "/dev/null: $!";
if (opendir my $all, '/dev/fd') {
  my %kept = map { $_ => 1 } 0 .. 2, map { fileno $_ } $in, $out, $err, $all;
  POSIX::close($_) for grep { /^\d+$/ && !$kept{$_} } readdir $all;
}
chdir '/';
# Handlers, not IGNORE: an exec sets them back. The first only wakes the select below.
$SIG{CHLD} = sub { };
$SIG{$_} = sub { } for 'INT', 'HUP';
$SIG{PIPE} = sub { POSIX::_exit(0) };

my ($attempts, $input, $started, $starts, $events) = ('', '', '', 0, '');
my %running;

sub flush {
  my $text = $started . $events;
  ($started, $starts, $events) = ('', 0, '');
  while (length $text) {
    my $count = syswrite $out, $text;
    if (defined $count) { substr $text, 0, $count, '' }
    elsif ($! != POSIX::EINTR()) { POSIX::_exit(0) }
  }
}

sub fault { $events .= join(' ', 'fault', @_) . "\n" }
sub errno { return (0 + $!, "$!") }

# Who gets our orphans: asked by making one.
sub reaper {
  pipe(my $read, my $write) or return 0;
  my $child = fork;
  return 0 unless defined $child;
  if ($child == 0) {
    my $parent = $$;
    my $orphan = fork;
    POSIX::_exit(0) if !defined $orphan || $orphan;
    select undef, undef, undef, 0.001 while getppid == $parent;
    syswrite $write, getppid;
    POSIX::_exit(0);
  }
  close $write;
  waitpid $child, 0;
  my $answer = '';
  while (!defined sysread $read, $answer, 20) { last if $! != POSIX::EINTR() }
  return $answer eq $$ ? 0 : $answer || 0;
}

# The first of the files that can be executed; or undef, what stands in the way (of the first refused one, else of the last), and
# which file that is.
sub program {
  my @files = @_;
  my @why;
  for my $index (0 .. $#files) {
    my $there = stat $files[$index];
    my $state = -d _ ? 'folder' : 'refused';
    if (!$there) {
      $state = $! == POSIX::EACCES() || $! == POSIX::EPERM() ? 'hidden' : 'missing';
    } elsif ($state eq 'refused' && POSIX::access($files[$index], POSIX::X_OK())) {
      return $files[$index];
    }
    @why = ($state, $index) unless @why && $why[0] eq 'refused';
  }
  return (undef, @why);
}

# Looks into the texts where they are: after a fork, each page the parent touches has to be copied.
sub start {
  my ($size, $texts) = @_;
  my (undef, $uid, $cwd) = @$texts;
  my $next = 3;
  my @lists = map { my $first = $next + 1; $next = $first + $$texts[$next]; [$first .. $next - 1] } 1 .. 3;
  my ($before, $files, $after) = @lists;
  my $folder = "$attempts/$uid";
  for my $each ($folder, "$folder/work") {
    next if mkdir $each, 0700;
    return fault($uid, 'attempt', errno()) if $! != POSIX::EEXIST();
    if ($each eq $folder && -e "$folder/claim") {
      $events .= "claimed $uid\n";
      return;
    }
  }
  if (!chdir $cwd) {
    my @errno = errno();
    return fault($uid, 'cwd', stat $cwd && !-d _ ? (0, 'file') : @errno);
  }
  my ($program, @why) = program(@$texts[@$files]);
  if (!defined $program) {
    chdir '/';
    return fault($uid, 'program', @why);
  }
  # Only what is long can be too long; its exec is waited for.
  my ($read, $write);
  pipe($read, $write) or return fault($uid, 'fork', errno()) if $size > 60_000;
  my $pid = fork;
  if (defined $pid && $pid == 0) {
    POSIX::setsid();
    for (; $next < $#$texts; $next += 2) { $ENV{$$texts[$next]} = $$texts[$next + 1] }
    no warnings 'exec';
    exec { $$texts[$$before[0]] } @$texts[@$before], $program, @$texts[@$after];
    syswrite $write, join ' ', errno() if $write;
    POSIX::_exit(127);
  }
  my @errno = errno();
  chdir '/';
  return fault($uid, 'fork', @errno) unless defined $pid;
  if ($write) {
    close $write;
    my $failed = '';
    while (!defined sysread $read, $failed, 200) { last if $! != POSIX::EINTR() }
    if (length $failed) {
      waitpid $pid, 0;
      return fault($uid, 'exec', $failed);
    }
  }
  $running{$pid} = $uid;
  $started .= "started $uid $pid\n";
  $starts++;
}

sub reap {
  while ((my $pid = waitpid -1, POSIX::WNOHANG()) > 0) {
    my $status = $?;
    my $uid = delete $running{$pid};
    next unless defined $uid;
    my $claim = '';
    if (defined(my $file = POSIX::open("$attempts/$uid/claim"))) {
      defined POSIX::read($file, $claim, 4096) or $claim = '';
      POSIX::close($file);
    }
    my $alive = kill(0, -$pid) || $! != POSIX::ESRCH() ? 1 : 0;
    $events .= "ended $uid $pid $status $alive " . length($claim) . "\n$claim";
  }
}

sub receive {
  my ($size, $texts) = @_;
  if ($$texts[0] eq 'setup') {
    (undef, $attempts, %ENV) = @$texts;
    $events .= "ready $$ " . reaper() . "\n";
  } else {
    start($size, $texts);
  }
}

for (;;) {
  my $bits = '';
  vec($bits, fileno $in, 1) = 1;
  # An end that comes just before the select does not wake it; the time bounds how late it is seen then.
  my $wait = $starts ? 0.005 : %running ? 0.25 : undef;
  my $ready = select $bits, undef, undef, $wait;
  if ($ready > 0) {
    my $count = sysread $in, $input, 65_536, length $input;
    POSIX::_exit(0) if defined $count ? $count == 0 : $! != POSIX::EINTR();
    while (length $input >= 4) {
      my $size = unpack 'N', $input;
      last if length $input < 4 + $size;
      my $frame = substr $input, 4, $size;
      substr $input, 0, 4 + $size, '';
      receive($size, [unpack '(N/a*)*', $frame]);
      # Ends are told between starts.
      reap();
      flush() if length $events;
    }
  }
  reap();
  flush() if length $events || $starts >= 16 || $ready == 0;
}

# The hand of a controller on another machine. It comes over SSH's standard input, nothing of it is installed, and it ends with its
# connection; the attempts it started live on, each under supervisor.sh in a session and a folder of its own. Perl as a base
# system has it, no module beyond POSIX, Fcntl and Socket (Time::HiRes is used where it is).
#
# Longer than other files: all of it is one text that goes to a machine on which nothing of ours lies.
#
# Both ways go frames: a length, then texts, each with its length before it (32 bits, big-endian). The first text names the kind.
# Before its first frame the hand writes a mark, since a login shell may have printed something. far-words.ts has the other side.
#   setup FOLDER SUPERVISOR-NAME SUPERVISOR-TEXT CLAIMS-FOLDER CONTROLLER     -> ready FOLDER | unusable ERRNO MESSAGE
#   has HASH SIZE...                                 -> lacks HASH...
#   put HASH CONTENT
#   start UID FOLDER LIMIT MEMORY, then five lists with their lengths before them (the command up to the program, files the program
#     may be, arguments after it, staged paths and hashes, the claim), then names and values of the environment
#   keep UID MEMORY CLAIM..., stop UID SIGNAL GRACE-MS NOTICE, watch UID 0|1
#   notice ID UID NOTICE -> noticed ID
#   strays UID...     stops every other attempt of the folder that lives -> strays-gone COUNT
#   read ID UID FILE OFFSET MAX                      -> range ID SIZE DATA
#   real ID PATH -> real ID PATH-WITHOUT-LINKS, or nothing and `late` or why it could not be looked at
#   prepare ID UID, the claim with its length before it, staged paths and hashes
#                                -> prepared ID FOLDER WHY-NOT, and after these two the number of the error, or why its cards were refused
#   hold UID CLAIM..., release UID, contained UID... claims of containers: one that runs, one that is over, and all that may live
#   room ID PATH -> room ID WHAT-DF-SAYS
#   caches ID SECONDS SHELL-TEXT ARGUMENT... -> caches ID WHAT-IT-PRINTS, then nothing, `late`, `hangs` or why it could not be run
#   forget UID...     of those that `old` named          -> pruned
#   sample, disks, gpus, docker, ping ID             -> the same word with what was found
#   tool ID ARGUMENT...   asks nvidia-smi            -> tool ID done|late|hangs|failed TEXT, then pid, attempt and user of processes it names
#   loop ID ARGUMENT...   until unloop ID            -> loop ID TEXT as it prints, loop-end ID when it ends
#   kernel                                           -> kernel READABLE LAST-NUMBER, then numbers and lines about cards; later ones unasked
# A claim is: in a container 0|1, shares its cards 0|1, millicores, bytes of memory, devices.
# Unasked: taking BYTES of what has not come in whole yet, full WHY, then attempts with the sizes of their logs; old UID...; hello, started, running, missing, fenced, unfilled, fault, gone, memory, usage, checkpoint, size, stuck, claims
use strict;
use warnings;
use POSIX ();
use Fcntl ();

# Of this program alone: tasks have that of the login.
POSIX::setlocale(POSIX::LC_ALL(), 'C');
our $expected = 0;
$0 = 'iris-far-hand';
open(my $in, '<&', \*STDIN) && open(my $out, '>&', \*STDOUT) && open(my $err, '>&', \*STDERR) or die "dup: $!";
$SIG{__WARN__} = sub { syswrite $err, $_[0] };
# Inside the evaluation that read this text, so that only an evaluation of its own is one that expects it.
$SIG{__DIE__} = sub { return if $expected; syswrite $err, $_[0]; POSIX::_exit(4) };
open(STDIN, '<', '/dev/null') && open(STDOUT, '>', '/dev/null') && open(STDERR, '>', '/dev/null')
  or die "/dev/null: $!";
binmode $_ for $in, $out;
$SIG{CHLD} = sub { };
$SIG{$_} = sub { } for 'INT', 'HUP';
$SIG{PIPE} = sub { POSIX::_exit(0) };
delete $ENV{$_} for grep { /^(SSH_|IRIS_)/ } keys %ENV;
chdir '/';

my $fine = eval { local $expected = 1; require Time::HiRes; 1 };
my $linux = -r '/proc/self/stat';
my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK()) || 100;
my $page = POSIX::sysconf(POSIX::_SC_PAGESIZE()) || 4096;
my ($input, $output, $base, $lock, $supervisor) = ('', '', undef, undef, undef);
my (%attempts, %pids, %jobs, %watching, $scanned, $strays);
my ($claims_told, $others_claim) = ('', 0);
my (%unput, %contained, $contained_told);
my (%hung, $hung_caches, %loops, $kernel, $kernel_number, $kernel_behind, @kernel_found);
my $heard = mono();
my $most_marks = 10_000;
# What the cards are read with; `absent` and the makers of what displays or computes where there is no such tool.
my $cards = 'command -v nvidia-smi >/dev/null || { printf absent; for d in /sys/bus/pci/devices/*; do case "$(cat $d/class 2>/dev/null)" in 0x03*|0x12*) printf " "; cat $d/vendor;; esac; done; exit; }; nvidia-smi -q -x; printf "\n--listed--\n"; nvidia-smi -L';
# Where a working folder or a program is looked at, in seconds: a network file system may take its time to be mounted.
my $patience = 60;
# Who says nothing for so long has another hand by now, or none any more.
my $silence = 150;

sub slurp {
  my ($file, $limit) = @_;
  my $text = '';
  my $fd = POSIX::open($file);
  return undef unless defined $fd;
  while (length $text < ($limit || 1 << 20)) {
    my $piece;
    my $count = POSIX::read($fd, $piece, 65_536);
    last unless defined $count && $count > 0;
    $text .= $piece;
  }
  POSIX::close($fd);
  return $text;
}

sub line { my $text = slurp($_[0]); return '' unless defined $text; $text =~ s/\s+$//; return $text }
sub now { return $fine ? Time::HiRes::time() : time }
sub ms { return sprintf '%.0f', 1000 * $_[0] }

sub mono {
  return $1 if ($linux // -r '/proc/uptime') && (slurp('/proc/uptime', 100) || '') =~ /^([\d.]+)/;
  return now();
}

sub say_ {
  my $body = join '', map { pack 'N/a*', $_ } map { defined $_ ? "$_" : '' } @_;
  $output .= pack('N', length $body) . $body;
}

sub flush {
  while (length $output) {
    my $count = syswrite $out, $output, 65_536;
    if (defined $count) { substr $output, 0, $count, '' }
    elsif ($! == POSIX::EAGAIN() || $! == POSIX::EWOULDBLOCK()) { return }
    elsif ($! != POSIX::EINTR()) { POSIX::_exit(0) }
  }
}

sub modified {
  my @stat = $fine ? Time::HiRes::lstat($_[0]) : lstat $_[0];
  return @stat ? $stat[9] : undef;
}

sub read_stat {
  my $text = slurp("/proc/$_[0]/stat", 4096);
  return undef unless defined $text && $text =~ /^(\d+) \((.*)\) (\S) (.*)$/s;
  my ($pid, $name, $state, @rest) = ($1, $2, $3, split ' ', $4);
  return undef if $state eq 'Z' || $state eq 'X';
  return { pid => $pid, name => $name, state => $state, parent => $rest[0], group => $rest[1], session => $rest[2], ticks => $rest[18],
    cpu => $rest[10] + $rest[11] + $rest[12] + $rest[13], pages => $rest[20] };
}

my %protected = ($$ => 1);
if ($linux) {
  for (my $next = getppid; $next > 0 && !$protected{$next};) {
    $protected{$next} = 1;
    my $entry = read_stat($next) or last;
    $next = $entry->{parent};
  }
}

# Everything that lives; one look serves a whole turn of the loop.
sub scan {
  return @$scanned if $scanned;
  my @found;
  opendir my $all, '/proc' or return;
  for my $pid (grep { /^\d+$/ } readdir $all) {
    my $entry = read_stat($pid) or next;
    my $environ = slurp("/proc/$pid/environ");
    $entry->{uid} = $1 if defined $environ && $environ =~ /(?:^|\0)IRIS_ATTEMPT_UID=([^\0]*)/;
    push @found, $entry;
  }
  $scanned = \@found;
  return @found;
}

sub boot { return $linux ? line('/proc/sys/kernel/random/boot_id') : '-' }

# The claim file: who runs the attempt and how it ended; supervisor.sh tells what its lines are.
sub claim_of {
  my $text = slurp("$base/$_[0]/claim", 8192);
  return { kind => 'none', text => '' } unless defined $text;
  my ($slot, $boot, $self) = split /\n/, $text;
  return { kind => 'fenced', text => $text } if defined $slot && $slot =~ /^fenced \./;
  return { kind => 'unfilled', text => $text } unless defined $self && $text =~ /\n\z/ && $self =~ /^(\d+) \(/;
  my $claim = { kind => 'claimed', text => $text, boot => $boot, pid => $1 };
  if ($self =~ /^\d+ \(.*\) \S (.*)$/) { $claim->{ticks} = (split ' ', $1)[18] }
  if ($slot =~ /^(exit|timeout) (\d+) \d+ (\S+) (\S+) \. *$/) {
    my ($status, $code, $begin, $end) = ($1, $2, $3, $4);
    @$claim{qw(status code)} = ($status, $code);
    $claim->{seconds} = $end - $begin if "$begin$end" =~ /^[\d.]+$/;
  }
  return $claim;
}

sub alive {
  my ($claim) = @_;
  return kill(0, $claim->{pid}) ? 1 : 0 unless $linux;
  return 0 if $claim->{boot} ne boot();
  my $entry = read_stat($claim->{pid});
  return $entry && defined $claim->{ticks} && $entry->{ticks} == $claim->{ticks} ? 1 : 0;
}

# True: nobody can start it any more, and nobody has.
sub fence {
  my ($uid) = @_;
  mkdir "$base/$uid", 0700;
  sysopen(my $file, "$base/$uid/claim", Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_EXCL(), 0600) or return 0;
  syswrite $file, sprintf("%-95s\n", 'fenced .');
  return 1;
}

sub members {
  my ($a) = @_;
  my @all = scan();
  my ($leader) = grep { $_->{pid} == $a->{pid} } @all;
  my $reused = $leader && defined $a->{ticks} && $leader->{ticks} != $a->{ticks};
  my $by_session = $a->{session_known} && !$reused;
  my @own = grep {
    !$protected{$_->{pid}}
      && ((defined $_->{uid} && $_->{uid} eq $a->{uid})
      || ($a->{ending} && ($a->{seen}{ $_->{pid} } // -1) == $_->{ticks})
      || ($by_session && ($_->{session} == $a->{pid} || $_->{group} == $a->{pid})))
  } @all;
  # With what these have started, whatever session and environment that has; while they are being ended that stays so although who
  # started it has gone since.
  if (@own) {
    my (%children, %known);
    push @{ $children{ $_->{parent} } }, $_ for @all;
    $known{ $_->{pid} } = 1 for @own;
    for (my $at = 0; $at < @own; $at++) {
      push @own, grep { !$protected{ $_->{pid} } && !$known{ $_->{pid} }++ } @{ $children{ $own[$at]{pid} } || [] };
    }
  }
  if ($a->{ending}) { $a->{seen}{ $_->{pid} } = $_->{ticks} for @own }
  return @own;
}

sub signal_one {
  my ($a, $entry, $signal) = @_;
  # Between the look and now the pid may have become another's.
  my $again = read_stat($entry->{pid}) or return;
  return unless $again->{ticks} == $entry->{ticks};
  $a->{sent}{$signal} = 1 if kill $signal, $entry->{pid};
}

sub begin_end {
  my ($a, $signal, $grace) = @_;
  my $deadline = mono() + $grace;
  if ($a->{ending}) {
    $a->{deadline} = $deadline if $deadline < $a->{deadline};
    return;
  }
  @$a{qw(ending signal deadline told first pause next)} = (1, $signal, $deadline, {}, 1, 0.005, 0);
  $a->{young} = !$a->{adopted} && mono() - $a->{since} < 0.5;
  # Who was told by a hand before this one is saving its work, and may take a second word for impatience.
  if ($linux && !$a->{gone} && $a->{sent}{$signal}) { $a->{told}{ $_->{pid} } = $_->{name} for members($a) }
}

# For a hand that comes after this one: what a stop sent; `sent_before` reads it.
sub note_sent {
  my ($a) = @_;
  my $sent = join ' ', sort keys %{ $a->{sent} };
  return if $sent eq ($a->{noted} // '');
  $a->{noted} = $sent;
  put_file("$base/$a->{uid}/sent", $sent);
}

sub sent_before {
  my ($a) = @_;
  $a->{noted} = line("$base/$a->{uid}/sent");
  $a->{sent}{$_} = 1 for $a->{noted} =~ /[A-Z0-9]+/g;
}

# One step of ending an attempt: the same steps as on the controller's own machine (session-end.ts).
sub step_end {
  my ($a) = @_;
  my $now = mono();
  return if $now < $a->{next};
  look_adopted($a) if $a->{adopted} && !$a->{gone};
  if (!$linux) {
    kill $a->{signal}, -$a->{pid} if $a->{first};
    $a->{sent}{$a->{signal}} = 1 if $a->{first};
    $a->{first} = 0;
    return report_gone($a) if $a->{gone} && !kill 0, -$a->{pid};
    if ($now >= $a->{deadline}) { kill 'KILL', -$a->{pid}; $a->{sent}{KILL} = 1 }
    $a->{next} = $now + 0.05;
    return;
  }
  if ($a->{signal} ne 'KILL') {
    # A shell that was just about to become the command forgets a signal: of one so young it is sent again to what it became.
    if ($a->{young}) {
      for my $pid (keys %{ $a->{told} }) {
        my $entry = $pid == $a->{pid} ? undef : read_stat($pid);
        delete $a->{told}{$pid} if $entry && $entry->{name} ne $a->{told}{$pid};
      }
    }
    my $command_told = grep { $_ != $a->{pid} } keys %{ $a->{told} };
    if ($a->{first} || $a->{gone} || ($a->{pause} >= 0.2 && !$command_told)) {
      my @rest = members($a);
      return report_gone($a) if !@rest && $a->{gone};
      for my $entry (@rest) {
        next if defined $a->{told}{ $entry->{pid} };
        $a->{told}{ $entry->{pid} } = $entry->{name};
        signal_one($a, $entry, $a->{signal});
        kill 'CONT', $entry->{pid} if $entry->{state} eq 'T';
      }
    }
    $a->{first} = 0;
    # Not of one that has hardly begun: its command may still have to be told, by whichever hand there is then.
    my $begun = !$a->{young} || $now - $a->{since} > 1;
    note_sent($a) if $a->{stopped} && $begun && grep { $_ != $a->{pid} } keys %{ $a->{told} };
    if ($now < $a->{deadline}) {
      my $left = $a->{deadline} - $now;
      $a->{next} = $now + ($a->{pause} < $left ? $a->{pause} : $left);
      $a->{pause} = $a->{pause} < 0.125 ? $a->{pause} * 2 : 0.25;
      return;
    }
    @$a{qw(signal pause)} = ('KILL', 0.005);
  }
  my @rest = members($a);
  return report_gone($a) if !@rest && $a->{gone};
  my @others = grep { $_->{pid} != $a->{pid} } @rest;
  if (@others) {
    $a->{empty} = undef;
    signal_one($a, $_, 'KILL') for @others;
    note_sent($a) if $a->{stopped};
  } else {
    $a->{empty} //= $now;
    # By force, the supervisor comes last: it writes how the command ended. Unless it is stopped or stuck itself.
    if ($now - $a->{empty} > 2) { signal_one($a, $_, 'KILL') for @rest }
  }
  $a->{stuck_at} //= $now + 10;
  if ($now >= $a->{stuck_at}) {
    $a->{stuck_at} = $now + 10;
    say_('stuck', $a->{uid}, join ', ', map { "$_->{pid} ($_->{name}, state $_->{state})" } @rest[0 .. ($#rest < 4 ? $#rest : 4)]) if @rest;
  }
  $a->{next} = $now + $a->{pause};
  $a->{pause} = $a->{pause} < 0.25 ? $a->{pause} * 2 : 0.5;
}

sub sizes { my ($a) = @_; return map { -s "$base/$a->{uid}/$_" || 0 } 'out', 'err' }

# Notes where both streams were seen together, and tells who looks.
sub look_sizes {
  my ($a) = @_;
  my ($size_out, $size_err) = sizes($a);
  my $seen = "$size_out $size_err";
  return if $seen eq $a->{sizes};
  $a->{sizes} = $seen;
  say_('size', $a->{uid}, $size_out, $size_err) if $a->{watched};
  my ($name, $file) = "$base/$a->{uid}/marks";
  $a->{marks} //= () = (slurp($name, 1 << 28) // '') =~ /\n/g;
  if (open $file, '>>', $name) { print {$file} ms(now()), " $seen\n"; close $file; $a->{marks}++ }
  thin($a, $name) if $a->{marks} > $most_marks;
}

# Every second mark goes; the last stays.
sub thin {
  my ($a, $name) = @_;
  my @lines = (slurp($name, 1 << 28) // '') =~ /^.*\n/mg;
  while (@lines > $most_marks) { @lines = @lines[grep { ($#lines - $_) % 2 == 0 } 0 .. $#lines] }
  put_file($name, join '', @lines);
  $a->{marks} = @lines;
}

sub look_checkpoint {
  my ($a) = @_;
  my $at = modified("$base/$a->{uid}/work/checkpoint");
  return unless defined $at && $at > $a->{checkpoint};
  $a->{checkpoint} = $at;
  say_('checkpoint', $a->{uid}, ms($at)) unless $a->{reported};
}

sub look_memory {
  my ($a) = @_;
  my $sum = 0;
  for my $entry (members($a)) {
    my $text = slurp("/proc/$entry->{pid}/smaps_rollup", 8192);
    if (defined $text && $text =~ /^Pss:\s+(\d+) kB$/m) { $sum += $1 }
    elsif ((slurp("/proc/$entry->{pid}/status", 8192) || '') =~ /^VmRSS:\s+(\d+) kB$/m) { $sum += $1 }
  }
  say_('memory', $a->{uid}, 1024 * $sum);
}

# Processor time with that of ended children, and resident memory, pages that are shared counted once for each.
sub look_usage {
  my ($a) = @_;
  my ($cpu, $pages, $read, $written) = (0, 0);
  for my $entry (members($a)) {
    $cpu += $entry->{cpu};
    $pages += $entry->{pages};
    # What it and its ended children have had of disks.
    my %io = (slurp("/proc/$entry->{pid}/io") || '') =~ /^(\w+): (\d+)$/mg;
    next unless defined $io{read_bytes} && defined $io{write_bytes};
    my $kept = $io{write_bytes} - ($io{cancelled_write_bytes} || 0);
    $read += $io{read_bytes};
    $written += $kept if $kept > 0;
  }
  $written //= 0 if defined $read;
  say_('usage', $a->{uid}, sprintf('%.2f', $cpu / $ticks), $pages * $page, $read // '', $written // '');
}

sub report_gone {
  my ($a) = @_;
  my $claim = claim_of($a->{uid});
  $a->{watched} or $a->{lived} or $a->{sizes} = join ' ', sizes($a);
  look_sizes($a);
  look_checkpoint($a);
  my ($size_out, $size_err) = sizes($a);
  my $took = defined $claim->{seconds} ? $claim->{seconds} : $a->{took};
  my $ended = $a->{ended};
  $ended //= modified("$base/$a->{uid}/claim") if $claim->{status};
  $ended //= now();
  my $begun = $a->{began};
  $begun = $ended - $took if $a->{adopted} && defined $took && !defined $begun;
  delete $attempts{ $a->{uid} };
  Claims::release($a->{uid});
  say_('gone', $a->{uid}, $claim->{kind}, $claim->{status}, $claim->{code}, $a->{code}, $a->{rebooted} || 0,
    defined $begun ? ms($begun) : '', ms($ended), defined $took ? ms($took) : '', join(',', map { "SIG$_" } sort keys %{ $a->{sent} }),
    $a->{checkpoint} ? ms($a->{checkpoint}) : '', $size_out, $size_err, full_disk(), ($claim->{code} // $a->{code} // '') eq '0' ? () : last_words($a->{uid}));
}

# The end of a stream of it; last-words.ts finds what that tells.
sub tail {
  # Who put a pipe in its place cannot make us wait for a writer.
  my $fd = POSIX::open("$base/$_[0]/$_[1]", POSIX::O_RDONLY() | POSIX::O_NONBLOCK());
  return '' unless defined $fd;
  my ($mode, $size, $tail) = ((POSIX::fstat($fd))[2, 7], '');
  POSIX::lseek($fd, $size - 4096, 0) if $size > 4096;
  POSIX::read($fd, $tail, 4096) if POSIX::S_ISREG($mode) && $size > 0;
  POSIX::close($fd);
  return $tail // '';
}

# Of one that failed: the end of its error output, and that of its output where it speaks of a disk or quota that was full.
sub last_words {
  my ($uid) = @_;
  my $printed = tail($uid, 'out');
  return (tail($uid, 'err'), $printed =~ /No space left on device|Disk quota exceeded|\bENOSPC\b|\bEDQUOT\b/i ? $printed : '');
}

sub new_attempt { return $attempts{ $_[0] } = { uid => $_[0], sizes => '0 0', checkpoint => 0, sent => {}, since => mono(), watched => $watching{ $_[0] } || 0 } }

# The first of the files that can be executed; or undef, what stands in the way, and which file that is.
sub program {
  my @files = @_;
  my @why;
  for my $index (0 .. $#files) {
    my $there = stat $files[$index];
    my $state = -d _ ? 'folder' : 'refused';
    if (!$there) { $state = $! == POSIX::EACCES() || $! == POSIX::EPERM() ? 'hidden' : 'missing' }
    elsif ($state eq 'refused' && POSIX::access($files[$index], POSIX::X_OK())) { return $files[$index] }
    @why = ($state, $index) unless @why && $why[0] eq 'refused';
  }
  return (undef, @why);
}

# Why nothing can be written where logs lie, a quota that is used up too; empty: something can.
sub full_disk {
  my $file = "$base/.room";
  $! = 0;
  my $done = 0;
  if (sysopen my $fd, $file, Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_TRUNC(), 0600) {
    my $count = syswrite $fd, "\0" x 65_536;
    if (defined $count && $count < 65_536) { $! = POSIX::ENOSPC() }
    elsif (defined $count) { $done = close $fd }
  }
  my ($number, $text) = (0 + $!, "$!");
  unlink $file;
  return !$done && ($number == POSIX::ENOSPC() || $number == POSIX::EDQUOT()) ? $text : '';
}

sub errno { return (0 + $!, "$!") }

sub stage {
  my ($uid, @staged) = @_;
  while (my ($path, $hash) = splice @staged, 0, 2) {
    my $target = "$base/$uid/work";
    my @parts = split m{/}, $path;
    my $name = pop @parts;
    for my $part (@parts) {
      $target .= "/$part";
      mkdir $target, 0700 or $! == POSIX::EEXIST() or return ($path, errno());
    }
    my $content = slurp("$base/.files/$hash", 1 << 30);
    return ($path, $unput{$hash} ? @{ $unput{$hash} } : errno()) unless defined $content;
    sysopen(my $file, "$target/$name", Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_TRUNC(), 0600) or return ($path, errno());
    my ($at, @errno) = (0);
    while ($at < length $content) {
      my $count = syswrite $file, $content, length($content) - $at, $at;
      if (!defined $count) { @errno = errno(); last }
      $at += $count;
    }
    if (!close($file) && !@errno) { @errno = errno() }
    # What did get there of it would take the room of others for as long as the attempt is kept.
    if (@errno) { unlink "$target/$name"; return ($path, @errno) }
    utime undef, undef, "$base/.files/$hash";
  }
  return;
}

sub start {
  my ($uid, $cwd, $limit, $memory, @rest) = @_;
  return if $attempts{$uid};
  my @lists = map { my $count = shift @rest; [splice @rest, 0, $count] } 1 .. 5;
  my ($before, $files, $after, $staged, $claim) = @lists;
  my %environment = @rest;
  my $folder = "$base/$uid";
  for my $each ($folder, "$folder/work") {
    next if mkdir $each, 0700;
    return say_('fault', $uid, 'attempt', errno()) if $! != POSIX::EEXIST();
    return keep($uid, $memory, @$claim) if $each eq $folder && -e "$folder/claim";
  }
  my ($path, $number, $why) = stage($uid, @$staged);
  return say_('fault', $uid, 'stage', $path, $why, $number) if defined $path;
  # From here on nothing may fail that does not give its cards back.
  my $holds = @$claim > 4;
  my @refused = $holds ? Claims::take($uid, @$claim) : ();
  return refuse_start($uid, @refused) if @refused;
  pipe(my $read, my $write) && pipe(my $wait, my $go) or return refuse_start($uid, 'fork', errno());
  my $pid = fork;
  if (defined $pid && $pid == 0) {
    POSIX::setsid();
    let_go();
    close $_ for $read, $go;
    # A file system that hangs holds up this child alone.
    my $tell = sub { syswrite $write, join ' ', @_ };
    if (!chdir $cwd) {
      my @errno = errno();
      $tell->('cwd', stat $cwd && !-d _ ? (0, 'file') : @errno);
      POSIX::_exit(125);
    }
    my ($program, @why) = program(@$files);
    if (!defined $program) { $tell->('program', @why); POSIX::_exit(125) }
    # Nothing runs before it is asked for once more, on a card before the claim names what does: were the hand to end before that, this
    # ends with it.
    $tell->('found');
    my $count;
    do { $count = sysread $wait, my $word, 1 } while !defined $count && $! == POSIX::EINTR();
    POSIX::_exit(125) unless $count;
    $ENV{$_} = $environment{$_} for keys %environment;
    no warnings 'exec';
    exec { $$before[0] } @$before, $program, @$after;
    $tell->('exec', errno());
    POSIX::_exit(127);
  }
  my @errno = errno();
  return refuse_start($uid, 'fork', @errno) unless defined $pid;
  close $_ for $write, $wait;
  my $a = new_attempt($uid);
  @$a{qw(pid session_known memory claim held)} = ($pid, 1, $memory, $claim, $holds);
  $a->{starting} = { read => $read, go => $go, until => mono() + $patience };
  $pids{$pid} = $a;
  # As a rule that is known at once. Where one waits already many may hang.
  step_start($a, 1 < grep({ $_->{starting} } values %attempts) ? 0.01 : 0.25);
}

sub refuse_start {
  my ($uid, @why) = @_;
  Claims::release($uid);
  look_claims();
  say_('fault', $uid, @why);
}

# Goes on with a start as far as its child has come within so many seconds.
sub step_start {
  my ($a, $seconds) = @_;
  my $start = $a->{starting};
  my ($uid, $pid) = @$a{qw(uid pid)};
  my $reads = '';
  vec($reads, fileno $start->{read}, 1) = 1;
  my $ready;
  do { $ready = select my $set = $reads, undef, undef, $seconds } while $ready < 0 && $! == POSIX::EINTR();
  return unless $ready > 0;
  my $heard = sub { my $text = ''; while (!defined sysread $start->{read}, $text, 400) { last if $! != POSIX::EINTR() } return $text };
  my $said = $heard->();
  my $named = 1;
  if ($said eq 'found' && !$start->{dead}) {
    local $SIG{PIPE} = sub { };
    $named = Claims::runs_under($uid, $pid) if $a->{held};
    my $went = $named && syswrite $start->{go}, 'x';
    delete $start->{go};
    $said = $went ? $heard->() : '-';
    if ($said eq '') {
      delete $a->{starting};
      my $entry = $linux ? read_stat($pid) : undef;
      @$a{qw(began since)} = (now(), mono());
      $a->{ticks} = $entry->{ticks} if $entry;
      return say_('started', $uid, $pid, ms($a->{began}));
    }
  }
  forget_start($a);
  waitpid $pid, 0;
  return refuse_start($uid, 'unclaimable', Claims::trouble()) unless $named;
  my ($step, @why) = split / /, $said, 3;
  return refuse_start($uid, 'fork', 0 + POSIX::ECHILD(), 'it was killed before it began') if @why < 2;
  refuse_start($uid, $step, @why);
}

sub forget_start { my ($a) = @_; delete $a->{starting}; delete $attempts{ $a->{uid} }; delete $pids{ $a->{pid} } }

# Nothing of it has run yet, and what hangs goes as soon as it can.
sub give_up_start { my ($a) = @_; kill 'KILL', $a->{pid}; forget_start($a) }

# Looks into the folder and goes on from what it proves. What nobody has started is fenced off.
sub keep {
  my ($uid, $memory, @claim) = @_;
  if (my $known = $attempts{$uid}) {
    say_('running', $uid, $known->{pid}, defined $known->{began} ? ms($known->{began}) : '') if $known->{pid} && !$known->{starting};
    return;
  }
  my $claim = claim_of($uid);
  my $missing = sub { Claims::release($uid); say_('missing', $uid) };
  if ($claim->{kind} eq 'none') {
    return $missing->() if fence($uid);
    $claim = claim_of($uid);
  }
  return $missing->() if $claim->{kind} eq 'fenced';
  my $a = new_attempt($uid);
  @$a{qw(adopted memory claim)} = (1, $memory, \@claim);
  sent_before($a);
  if ($claim->{kind} ne 'claimed') {
    @$a{qw(unfilled unfilled_next)} = (20, mono() + 0.1);
    return;
  }
  adopt($a, $claim);
}

sub adopt {
  my ($a, $claim) = @_;
  @$a{qw(pid ticks)} = @$claim{qw(pid ticks)};
  if (!$claim->{status} && alive($claim)) {
    $a->{session_known} = 1;
    hold($a);
    $a->{began} = now() - mono() + $claim->{ticks} / $ticks if $linux && defined $claim->{ticks};
    return say_('running', $a->{uid}, $a->{pid}, defined $a->{began} ? ms($a->{began}) : '');
  }
  look_adopted($a);
}

# What runs already goes on, whoever claims its cards now.
sub hold {
  my ($a) = @_;
  return if $a->{held};
  $a->{held} = 1;
  if (@{ $a->{claim} || [] }) { Claims::adopt($a->{uid}, $a->{pid}, @{ $a->{claim} }) }
  else { Claims::runs_under($a->{uid}, $a->{pid}) }
}

# What others hold is told when it has changed.
sub look_claims {
  my @found = Claims::others();
  $others_claim = @found > 3;
  my $text = join "\0", @found;
  return if $text eq $claims_told;
  $claims_told = $text;
  say_('claims', @found);
}

sub look_adopted {
  my ($a) = @_;
  return if $a->{gone};
  my $claim = claim_of($a->{uid});
  if ($a->{unfilled}) {
    if ($claim->{kind} eq 'claimed') { $a->{unfilled} = 0; return adopt($a, $claim) }
    return if mono() < $a->{unfilled_next};
    $a->{unfilled_next} = mono() + 0.1;
    return if --$a->{unfilled};
    delete $attempts{ $a->{uid} };
    Claims::release($a->{uid});
    return say_('unfilled', $a->{uid}, full_disk());
  }
  return if !$claim->{status} && alive($claim);
  # It may have ended between the two looks.
  $claim = claim_of($a->{uid}) unless $claim->{status};
  $a->{gone} = 1;
  $scanned = undef;
  if (!$claim->{status} && $linux && ($claim->{boot} // '') ne boot()) {
    $a->{rebooted} = 1;
    return report_gone($a);
  }
  begin_end($a, 'TERM', 2) unless $a->{ending};
  $a->{next} = 0;
}

sub stop {
  my ($uid, $signal, $grace, $notice) = @_;
  my $a = $attempts{$uid};
  if ($a && $a->{starting}) {
    give_up_start($a);
    Claims::release($uid);
    return say_('fenced', $uid) if fence($uid);
    undef $a;
  }
  if (!$a) {
    keep($uid);
    $a = $attempts{$uid} or return;
  }
  put_file("$base/$uid/work/preemption.json", $notice) if length $notice && -d "$base/$uid/work";
  # Who claims it first: its supervisor, or this fence, behind which the supervisor leaves.
  if (!$a->{adopted} && claim_of($uid)->{kind} eq 'none' && fence($uid)) { $a->{fenced} = 1; return }
  look_usage($a) if $linux && $a->{pid} && !$a->{gone} && !$a->{ending};
  return if $a->{unfilled} && ($a->{stop_later} = [$signal, $grace]);
  return if $a->{gone};
  $a->{stopped} = 1;
  begin_end($a, $grace == 0 ? 'KILL' : $signal, $grace / 1000);
}

sub reap {
  while ((my $pid = waitpid -1, POSIX::WNOHANG()) > 0) {
    my $status = $?;
    delete $hung{$pid};
    my $a = delete $pids{$pid} or next;
    if ($a->{starting}) { $a->{starting}{dead} = 1; step_start($a, 0); next }
    $a->{code} = $status & 127 ? '' : $status >> 8;
    @$a{qw(gone ended took)} = (1, now(), mono() - $a->{since});
    # What was seen before may miss what it left.
    $scanned = undef;
    my $claim = claim_of($a->{uid});
    if ($a->{fenced}) {
      delete $attempts{ $a->{uid} };
      Claims::release($a->{uid});
      say_('fenced', $a->{uid});
    } elsif ($claim->{kind} eq 'claimed' && $claim->{pid} != $pid) {
      # Another supervisor holds it, started by a hand before this one.
      delete $attempts{ $a->{uid} };
      keep($a->{uid}, $a->{memory}, @{ $a->{claim} || [] });
    } else {
      begin_end($a, 'TERM', 2) unless $a->{ending};
      $a->{next} = 0;
    }
  }
}

# A child whose output is told under its name; one at a time of each, ended when it takes too long. False: there can be none now.
sub job {
  my ($name, $seconds, $code) = @_;
  return 1 if $jobs{$name};
  pipe(my $read, my $write) or return 0;
  my $pid = fork;
  return 0 unless defined $pid;
  if ($pid == 0) {
    POSIX::setsid();
    let_go();
    # Without the hand nobody else ends it.
    alarm $seconds + 5;
    POSIX::dup2(fileno $write, 1);
    POSIX::dup2(1, 2);
    $ENV{LC_ALL} = 'C';
    $code->();
    POSIX::_exit(0);
  }
  close $write;
  $jobs{$name} = { pid => $pid, read => $read, text => '', began => mono(), until => mono() + $seconds };
  return 1;
}

# A child that waits for others must not hold what tells of the hand's end: its folder, and the far ends of its loops and starts.
sub let_go { close $lock if $lock; delete @loops{keys %loops}; delete @{$_}{qw(read go)} for map { $_->{starting} || () } values %attempts }

# Who asked has waited for long enough; it goes on.
sub job_late {
  my ($job) = @_;
  delete $job->{late};
  $hung{ $job->{pid} } = $job->{began};
  say_('tool', $job->{id}, 'late', '');
}

sub job_over {
  my ($name, $late) = @_;
  my $job = delete $jobs{$name};
  kill 'KILL', -$job->{pid} if $late;
  if ($name =~ /^caches-(\d+)$/) {
    $hung_caches = $job->{read} if $late;
    return say_('caches', $1, $job->{text}, $late ? 'late' : '');
  }
  close $job->{read};
  return say_($1, $2, $late ? ('', 'late') : $job->{text}) if $name =~ /^(room|real)-(\d+)$/;
  $hung{ $job->{pid} } = $job->{began} if $late && $name eq 'tool';
  my @more;
  @more = owners($job->{text} =~ m{<pid>(\d+)</pid>}g) if $name eq 'gpus' || $name eq 'tool';
  @more = owners($job->{text} =~ m{(?:^|, )(\d+)(?=,|$)}mg) if $name eq 'tool' && !@more && $job->{text} !~ /</;
  say_($name, defined $job->{id} ? $job->{id} : (), $late ? 'late' : 'done', $job->{text}, @more);
}

# Whose the processes are that the tool names.
sub owners {
  my @more;
  for my $pid (@_) {
    my @stat = stat "/proc/$pid" or next;
    # A user without a name here, as of a container, is one all the same.
    my $user = getpwuid $stat[4];
    push @more, $pid, attempt_of_process($pid), $user // "uid $stat[4]";
  }
  return @more;
}

# By its environment, its session, or who started it: the same steps as on the controller's own machine (own-processes.ts).
sub attempt_of_process {
  my ($pid) = @_;
  my %sessions = map { $_->{pid} => $_->{uid} } grep { $_->{pid} && $_->{session_known} } values %attempts;
  for (1 .. 64) {
    last if $pid <= 1;
    my $environ = slurp("/proc/$pid/environ") || '';
    return $1 if $environ =~ /(?:^|\0)IRIS_ATTEMPT_UID=([0-9a-f]+)/ && -d "$base/$1";
    my $entry = read_stat($pid) or last;
    for my $number (@$entry{qw(session group)}) { return $sessions{$number} if defined $sessions{$number} }
    $pid = $entry->{parent};
  }
  return '';
}

# One call at a time. One that does not even die when it is killed hangs in the driver, which then is not asked again. It is late after the
# first of the two times, in seconds, and ended after the second: cards that have to be woken may take long.
sub tool {
  my ($id, $late, $most, @args) = @_;
  my ($since) = sort { $a <=> $b } values %hung;
  return say_('tool', $id, 'hangs', sprintf '%.0f', mono() - $since) if defined $since;
  return say_('tool', $id, 'late', '') if $jobs{tool};
  job('tool', $most, sub { run_program('nvidia-smi', @args) }) or return say_('tool', $id, 'failed', "$!");
  $jobs{tool}{id} = $id;
  $jobs{tool}{late} = mono() + $late if $late < $most;
}

# Between the tool and the hand stands a child that ends the tool when the hand ends, however that comes.
sub loop {
  my ($id, @args) = @_;
  pipe(my $read, my $write) && pipe(my $life, my $hold) or return say_('loop-end', $id);
  my $pid = fork;
  return say_('loop-end', $id) unless defined $pid;
  if ($pid == 0) {
    POSIX::setsid();
    let_go();
    close $_ for $hold, $read;
    my $tool = fork;
    if (defined $tool && $tool == 0) {
      POSIX::setsid();
      POSIX::dup2(fileno $write, 1);
      open STDERR, '>', '/dev/null';
      $ENV{LC_ALL} = 'C';
      run_program('nvidia-smi', @args);
    }
    close $write;
    for (;;) {
      my $reads = '';
      vec($reads, fileno $life, 1) = 1;
      last if select($reads, undef, undef, 0.5) > 0;
      POSIX::_exit(0) if !defined $tool || waitpid($tool, POSIX::WNOHANG()) != 0;
    }
    kill 'KILL', -$tool;
    POSIX::_exit(0);
  }
  close $_ for $write, $life;
  $loops{$id} = { pid => $pid, read => $read, hold => $hold };
}

# What the kernel's log says of cards, with the number of each record; a log in a file has none, so its lines are counted. What was
# there at first is told whole, however many calls it takes to read: told in parts, the later ones would pass for news.
sub look_kernel {
  my ($always) = @_;
  my $is_first = !defined $kernel;
  $kernel = POSIX::open('/dev/kmsg', POSIX::O_RDONLY() | POSIX::O_NONBLOCK()) if $is_first;
  return $always && say_('kernel', 0, 0) unless defined $kernel;
  my $ended;
  for (1 .. 4_000) {
    my $count = POSIX::read($kernel, my $piece, 8192);
    next if !defined $count && $! == POSIX::EPIPE();
    $ended = !(defined $count && $count > 0);
    last if $ended;
    for my $line (split /\n/, $piece) {
      next if $line =~ /^ /;
      $kernel_number = $line =~ /^\d+,(\d+),/ ? $1 : ($kernel_number // 0) + 1;
      push @kernel_found, $kernel_number, $line if index($line, 'NVRM: Xid') >= 0;
    }
  }
  my $was_behind = $is_first || $kernel_behind;
  $kernel_behind = $was_behind && !$ended;
  return if $kernel_behind;
  say_('kernel', 1, $kernel_number // 0, splice @kernel_found) if $always || $was_behind || @kernel_found;
}

# Of what displays or computes.
sub vendors {
  my @shown = grep { (slurp("$_/class") || '') =~ /^0x(03|12)/ } glob '/sys/bus/pci/devices/*';
  return map { (slurp("$_/vendor") || '') =~ /^(0x[0-9a-f]+)/ ? $1 : () } @shown;
}

sub run_program {
  my ($name, @args) = @_;
  exec { $name } $name, @args or do { print STDOUT ''; syswrite \*STDOUT, join ' ', 'absent', $name eq 'nvidia-smi' ? vendors() : (); POSIX::_exit(127) };
}

sub docker_probe {
  require Socket;
  # As docker-exchange.pl has it: one that may be used counts before one that is only there.
  my @places = ('/var/run/docker.sock');
  push @places, "$ENV{XDG_RUNTIME_DIR}/docker.sock" if $ENV{XDG_RUNTIME_DIR};
  push @places, "/run/user/$>/docker.sock";
  unshift @places, $1 if ($ENV{DOCKER_HOST} || '') =~ m{^unix://(.+)$};
  my @there = grep { -S $_ } @places;
  my ($place) = (grep({ -r $_ && -w _ } @there), @there);
  return syswrite \*STDOUT, 'absent' unless defined $place;
  socket(my $socket, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0) or return syswrite \*STDOUT, "failed $place $!";
  connect($socket, Socket::pack_sockaddr_un($place)) or return syswrite \*STDOUT, "failed $place $!";
  syswrite $socket, "GET /version HTTP/1.0\r\nHost: docker\r\n\r\n";
  my $text = '';
  while (sysread $socket, $text, 65_536, length $text) { }
  syswrite \*STDOUT, $text =~ /"Version":"([^"]+)"/ ? "ready $place $1" : "failed $place it gave no version";
}

sub sample {
  my ($busy, $all, $available, $total) = ('', '', '', '');
  if ((slurp('/proc/stat') || '') =~ /^cpu +(.*)$/m) {
    my @count = (split ' ', $1)[0 .. 7];
    $all = 0;
    $all += $_ || 0 for @count;
    $busy = $all - ($count[3] || 0) - ($count[4] || 0);
  }
  my $memory = slurp('/proc/meminfo') || '';
  $available = 1024 * $1 if $memory =~ /^MemAvailable:\s+(\d+) kB$/m;
  $total = 1024 * $1 if $memory =~ /^MemTotal:\s+(\d+) kB$/m;
  # Of devices of their own: what is made of others, or a part of one, would count the same again.
  my ($read, $written) = ('', '');
  for (split /\n/, slurp('/proc/diskstats') || '') {
    my (undef, undef, $name, undef, undef, $in, undef, undef, undef, $out) = split ' ';
    next unless defined $out;
    $name =~ tr{/}{!};
    next unless -e "/sys/block/$name/device";
    $read = ($read || 0) + 512 * $in;
    $written = ($written || 0) + 512 * $out;
  }
  say_('sample', $busy, $all, $total, $available, sprintf('%.0f', 1000 * mono()), map { $_ eq '' ? '' : sprintf '%.0f', $_ } $read, $written);
}

# Attempts of which nothing was written for a day longer than a controller keeps jobs. None that lives is one of them: a container may
# live for longer than that, and which do is known only once that was told.
sub old_attempts {
  my @old;
  opendir my $all, $base or return;
  for my $uid (grep { /^[0-9a-f]{16}$/ && !$attempts{$_} && !exists $contained{$_} } readdir $all) {
    my $at = modified("$base/$uid/claim");
    if (!defined $at) {
      my $lived = modified("$base/$uid/container");
      next if defined $lived && !$contained_told;
      $at = $lived // modified("$base/$uid");
    }
    next unless defined $at && now() - $at > 8 * 86_400;
    my $claim = claim_of($uid);
    push @old, $uid unless $claim->{kind} eq 'claimed' && !$claim->{status} && alive($claim);
  }
  return @old;
}

# However old, the controller may want them still: their job runs on, or it was away when they ended.
sub prune {
  utime undef, undef, map { "$base/$_/container" } keys %contained;
  my @old = old_attempts();
  say_('old', @old[0 .. ($#old < 9999 ? $#old : 9999)]) if @old;
}

sub forget {
  my %old = map { $_ => 1 } old_attempts();
  my @gone = map { "$base/$_" } grep { $old{$_} } @_;
  job('pruned', 3600, sub { run_program('rm', '-rf', '--', @gone[0 .. ($#gone < 999 ? $#gone : 999)]) }) if @gone;
}

# A mark in the folder of a container's attempt, as old as the last word of it.
sub mark_container { my ($uid) = @_; put_file("$base/$uid/container", '') if -d "$base/$uid" }

sub hello {
  my ($sysname, $nodename, $release, undef, $architecture) = POSIX::uname();
  my $id = line('/etc/machine-id') || line('/var/lib/dbus/machine-id');
  my $cpus = slurp('/proc/cpuinfo') || '';
  my $count = () = $cpus =~ /^processor\s*:/mg;
  if ((slurp('/proc/self/status') || '') =~ /^Cpus_allowed:\s+([0-9a-f,]+)/m) {
    my $allowed = 0;
    $allowed += sprintf('%b', hex $_) =~ tr/1// for split //, $1 =~ tr/,//dr;
    $count = $allowed if $allowed && $allowed < $count;
  }
  if (!$count) { $count = `getconf _NPROCESSORS_ONLN 2>/dev/null`; $count = $count =~ /(\d+)/ ? $1 : 1 }
  my ($model) = $cpus =~ /^model name\s*:\s*(.+)$/m;
  my ($pretty) = (slurp('/etc/os-release') || '') =~ /^PRETTY_NAME="?([^"\n]*)"?$/m;
  my $home = $ENV{HOME} || (getpwuid $>)[7] || '/';
  say_('hello', hostname => $nodename, machineId => $id, bootId => boot(), clock => ms(now()), system => "$sysname $release",
    architecture => $architecture, pretty => $pretty, cpuCount => $count, cpuModel => $model, home => $home, path => $ENV{PATH},
    memoryBytes => (slurp('/proc/meminfo') || '') =~ /^MemTotal:\s+(\d+) kB$/m ? 1024 * $1 : 0,
    unbuffered => defined $ENV{PYTHONUNBUFFERED} ? 1 : 0, umask => sprintf('%03o', umask), uid => $>, groups => "$)", processes => $linux ? 1 : 0);
}

# Owns the folder: a hand of an earlier connection that is not told yet that it is cut off must start nothing any more.
sub setup {
  my ($folder, $name, $text, $claims, $controller) = @_;
  my $home = $ENV{HOME} || (getpwuid $>)[7] || '/';
  my $path = $home;
  for my $part (split m{/}, $folder) {
    $path .= "/$part";
    mkdir $path, 0700 or $! == POSIX::EEXIST() or return say_('unusable', 0 + $!, "$path: $!");
  }
  chmod 0700, $path;
  -d $path && -w _ or return say_('unusable', 0 + POSIX::EACCES(), "$path is no folder this user may write to");
  sysopen($lock, "$path/.hand", Fcntl::O_RDWR() | Fcntl::O_CREAT(), 0600) or return say_('unusable', 0 + $!, "$path/.hand: $!");
  my $holder = '';
  sysread $lock, $holder, 200;
  my ($pid, $began, $boot) = $holder =~ /^(\d+) (\d+) (\S+)/;
  if ($linux && defined $pid && $pid != $$ && $boot eq boot()) {
    my $entry = read_stat($pid);
    kill 'KILL', $pid if $entry && $entry->{ticks} == $began && $entry->{name} =~ /^(?:perl|iris)/;
  }
  my $until = mono() + 5;
  until (flock $lock, Fcntl::LOCK_EX() | Fcntl::LOCK_NB()) {
    last if $! != POSIX::EWOULDBLOCK() && $! != POSIX::EAGAIN() && $! != POSIX::EINTR();
    return say_('unusable', 0 + POSIX::EBUSY(), "$path is held by another connection of this controller") if mono() > $until;
    select undef, undef, undef, 0.02;
  }
  sysseek $lock, 0, 0;
  truncate $lock, 0;
  my $self = $linux ? read_stat($$) : undef;
  syswrite $lock, join(' ', $$, $self ? $self->{ticks} : 0, boot()) . "\n";
  mkdir "$path/.files", 0700;
  ($base, $supervisor) = ($path, "$path/$name");
  put_file($supervisor, $text) or return say_('unusable', 0 + $!, "$supervisor: $!") unless -e $supervisor && -s _ == length $text;
  # Files that no job has used for a week are sent anew.
  if (opendir my $all, "$path/.files") { for (readdir $all) { unlink "$path/.files/$_" if -f "$path/.files/$_" && -M _ > 7 } }
  Claims::setup($claims, $controller);
  look_claims();
  say_('ready', $path);
  prune();
}

# Whole or not there at all.
sub put_file {
  my ($target, $text) = @_;
  sysopen(my $file, "$target.$$", Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_TRUNC(), 0600) or return 0;
  my $at = 0;
  while ($at < length $text) {
    my $count = syswrite $file, $text, length($text) - $at, $at;
    if (!defined $count) { my $number = $!; unlink "$target.$$"; $! = $number; return 0 }
    $at += $count;
  }
  close $file;
  return rename "$target.$$", $target;
}

# Attempts of the folder that live although the controller does not want them.
sub stop_strays {
  my %wanted = map { $_ => 1 } @_;
  my %found;
  if (opendir my $all, $base) {
    for my $uid (grep { /^[0-9a-f]+$/ && !$wanted{$_} } readdir $all) {
      my $claim = claim_of($uid);
      $found{$uid} = 1 if $claim->{kind} eq 'claimed' && !$claim->{status} && alive($claim);
    }
  }
  $scanned = undef;
  for (scan()) { my $uid = $_->{uid}; $found{$uid} = 1 if defined $uid && $uid =~ /^[0-9a-f]+$/ && !$wanted{$uid} && -e "$base/$uid/claim" }
  $strays = [keys %found];
  for my $uid (@$strays) { stop($uid, 'TERM', 10_000, '') }
  # What lives gives its own back when it is gone.
  for my $uid (Claims::attempts(0)) { Claims::release($uid) unless $wanted{$uid} || $attempts{$uid} }
}

sub read_range {
  my ($id, $uid, $name, $offset, $max) = @_;
  my $data = '';
  my $fd = POSIX::open("$base/$uid/$name");
  return say_('range', $id, 0, '') unless defined $fd;
  my $size = (POSIX::fstat($fd))[7];
  if ($max > 0 && $offset < $size && defined POSIX::lseek($fd, $offset, 0)) {
    $max = 262_144 if $max > 262_144;
    $max = $size - $offset if $max > $size - $offset;
    defined POSIX::read($fd, $data, $max) or $data = '';
  }
  POSIX::close($fd);
  say_('range', $id, $size, $data);
}

# By its size as well: what was written just before a power cut may have its name and nothing in it.
sub has {
  my @lacking;
  while (my ($hash, $size) = splice @_, 0, 2) { push @lacking, $hash unless -e "$base/.files/$hash" && (-s _ || 0) == $size }
  say_('lacks', @lacking);
}

sub real_path {
  my ($id, $path) = @_;
  # It may lie where a file system hangs. Somebody waits for the answer to this and others.
  my $look = sub {
    my $real = -e $path ? eval { local $expected = 1; require Cwd; Cwd::realpath($path) } : undef;
    syswrite \*STDOUT, $real if defined $real;
  };
  job("real-$id", $patience / 6, $look) or say_('real', $id, '', "$!");
}

# One that does not even die when it is killed hangs at its disk, where others would hang beside it: as long as it lives, what the shell
# called has the shell's output open.
sub caches {
  my ($id, $seconds, $text, @args) = @_;
  if ($hung_caches) {
    my ($reads, $rest) = ('', '');
    vec($reads, fileno $hung_caches, 1) = 1;
    while (1) {
      return say_('caches', $id, '', 'hangs') unless select(my $ready = $reads, undef, undef, 0) > 0;
      last unless sysread $hung_caches, $rest, 65_536;
    }
    undef $hung_caches;
  }
  job("caches-$id", $seconds, sub { run_program('/bin/sh', '-c', $text, 'sh', @args) }) or say_('caches', $id, '', "$!");
}

# The working folder of a container, with its staged files, when nobody else holds its cards.
sub prepare {
  my ($id, $uid, $count, @staged) = @_;
  my @claim = splice @staged, 0, $count;
  my @refused = @claim > 4 ? Claims::take($uid, @claim) : ();
  if (@refused) { look_claims(); return say_('prepared', $id, '', '', @refused) }
  # By its name, as the Engine is told where it is: beside what a link leads to would be another place.
  (my $caches = $base) =~ s{/[^/]+/*$}{/caches};
  for my $each ("$base/$uid", "$base/$uid/work", $caches, map { "$caches/$_" } qw(uv hf cargo cache)) {
    next if mkdir $each, 0700 or $! == POSIX::EEXIST();
    return say_('prepared', $id, '', "$each could not be made: $!", 0 + $!);
  }
  mark_container($uid);
  my ($path, $number, $why) = stage($uid, @staged);
  return say_('prepared', $id, '', "the staged file $path could not be written: $why", $number) if defined $path;
  say_('prepared', $id, "$base/$uid/work", '');
}

sub receive {
  my ($kind, @texts) = @_;
  if ($kind eq 'ping') { say_('pong', $texts[0], ms(now())) }
  elsif ($kind eq 'setup') { setup(@texts) }
  elsif (!defined $base) { return }
  elsif ($kind eq 'start') { start(@texts) }
  elsif ($kind eq 'keep') { keep(@texts) }
  elsif ($kind eq 'stop') { stop(@texts) }
  elsif ($kind eq 'watch') {
    if ($texts[1]) { $watching{ $texts[0] } = 1 } else { delete $watching{ $texts[0] } }
    if (my $a = $attempts{ $texts[0] }) { $a->{watched} = $texts[1]; $a->{sizes} = '0 0' if $texts[1]; look_sizes($a) }
  }
  elsif ($kind eq 'strays') { stop_strays(@texts) }
  elsif ($kind eq 'read') { read_range(@texts) }
  elsif ($kind eq 'notice') {
    my ($id, $uid, $notice) = @texts;
    put_file("$base/$uid/work/preemption.json", $notice) if -d "$base/$uid/work";
    say_('noticed', $id);
  }
  elsif ($kind eq 'real') { real_path(@texts) }
  elsif ($kind eq 'prepare') { prepare(@texts) }
  elsif ($kind eq 'hold') { my $uid = shift @texts; $contained{$uid} //= 0; mark_container($uid); Claims::adopt($uid, undef, @texts) }
  elsif ($kind eq 'release') { mark_container($texts[0]) if exists $contained{ $texts[0] }; delete $contained{ $texts[0] }; Claims::release($texts[0]) }
  elsif ($kind eq 'contained') {
    my %live = map { $_ => 1 } @texts;
    Claims::release($_) for grep { !$live{$_} } Claims::attempts(1);
    delete @contained{ grep { !$live{$_} } keys %contained };
    $contained{$_} //= 0 for @texts;
    if (!$contained_told) { $contained_told = 1; prune() }
  }
  elsif ($kind eq 'room') {
    my ($id, $path) = @texts;
    job("room-$id", 20, sub { run_program('df', '-Pk', $path) }) or say_('room', $id, '');
  }
  elsif ($kind eq 'caches') { caches(@texts) }
  elsif ($kind eq 'forget') { forget(@texts) }
  elsif ($kind eq 'has') { has(@texts) }
  elsif ($kind eq 'put') { put_file("$base/.files/$texts[0]", $texts[1]) or $unput{ $texts[0] } = [errno()] }
  elsif ($kind eq 'sample') { Claims::refresh(); look_claims(); sample() }
  elsif ($kind eq 'disks') { job('disks', 20, sub { run_program('df', '-Pk', $base, $ENV{HOME} || '/', '/') }) }
  elsif ($kind eq 'gpus') { job('gpus', 20, sub { run_program('/bin/sh', '-c', $cards) }) }
  elsif ($kind eq 'tool') { tool(@texts) }
  elsif ($kind eq 'loop') { loop(@texts) }
  elsif ($kind eq 'unloop') { delete $loops{ $texts[0] } }
  elsif ($kind eq 'kernel') { look_kernel(1) }
  elsif ($kind eq 'docker') { job('docker', 20, \&docker_probe) }
}

my ($fast, $slow, $measure, $pruned, $probe, $taking) = (0, 0, 0, mono(), 0, 0);
sub periodic {
  my $now = mono();
  my ($is_fast, $is_slow, $measures) = ($now >= $fast, $now >= $slow, $now >= $measure);
  $fast = $now + 0.1 if $is_fast;
  $slow = $now + 0.5 if $is_slow;
  $measure = $now + 2 if $measures;
  # A copy: what ends is taken out meanwhile.
  my @all = values %attempts;
  for my $a (@all) {
    if ($a->{starting}) {
      if ($now >= $a->{starting}{until}) { give_up_start($a); refuse_start($a->{uid}, 'silent', $patience) }
      next;
    }
    $a->{lived} = 1 if $now - $a->{since} > 1;
    look_adopted($a) if $is_fast && $a->{adopted} && !$a->{gone};
    next unless $attempts{ $a->{uid} };
    if ($a->{stop_later} && !$a->{unfilled}) { my ($signal, $grace) = @{ delete $a->{stop_later} }; stop($a->{uid}, $signal, $grace, '') }
    look_sizes($a) if $a->{watched} ? $is_fast : $is_slow && $a->{lived};
    look_checkpoint($a) if $is_slow;
    # A short one is not measured, one that lives on every ten seconds.
    if ($linux && $a->{lived} && $a->{pid} && !$a->{ending} && $now >= ($a->{usage_at} || 0)) { $a->{usage_at} = $now + 10; look_usage($a) }
    # One without cards has shown by now that it lives long enough for others to know of it.
    hold($a) if $a->{lived} && !$a->{held} && $a->{pid} && !$a->{ending};
    look_memory($a) if $measures && $a->{memory} && $a->{pid} && !$a->{ending};
    step_end($a) if $a->{ending};
  }
  for my $name (keys %jobs) {
    if ($now >= $jobs{$name}{until}) { job_over($name, 1) }
    elsif (defined $jobs{$name}{late} && $now >= $jobs{$name}{late}) { job_late($jobs{$name}) }
  }
  look_kernel(0) if $kernel_behind || (%loops && $is_slow);
  for my $uid ($is_slow ? keys %contained : ()) {
    my $at = modified("$base/$uid/work/checkpoint");
    next unless defined $at && $at > $contained{$uid};
    $contained{$uid} = $at;
    say_('checkpoint', $uid, ms($at));
  }
  if (@all && $now >= $probe) {
    $probe = $now + 5;
    my $why = full_disk();
    say_('full', $why, map { $_->{uid}, sizes($_) } values %attempts) if $why ne '';
  }
  if ($is_slow && Claims::changed()) { Claims::refresh(); look_claims() }
  if ($strays && !grep { $attempts{$_} } @$strays) { say_('strays-gone', scalar @$strays); $strays = undef }
  if (defined $base && $now - $pruned > 21_600) { $pruned = $now; prune() }
  POSIX::_exit(0) if $now - $heard > $silence;
}

fcntl $out, Fcntl::F_SETFL(), fcntl($out, Fcntl::F_GETFL(), 0) | Fcntl::O_NONBLOCK();
$output = "\0iris-far-hand\0";
hello();
flush();
for (;;) {
  my ($reads, $writes) = ('', '');
  vec($reads, fileno $in, 1) = 1;
  vec($reads, fileno $_->{read}, 1) = 1 for values %jobs, values %loops, map { $_->{starting} || () } values %attempts;
  vec($writes, fileno $out, 1) = 1 if length $output;
  my $busy = grep { $_->{ending} || $_->{unfilled} } values %attempts;
  my $ready = select $reads, $writes, undef, $busy ? 0.005 : $strays || %attempts ? 0.1 : %jobs || %loops || %contained ? 0.5 : $others_claim ? 1 : 10;
  $scanned = undef;
  if ($ready > 0) {
    # Before a word closes what was found ready, and what it opens has the same number.
    for my $a (grep { $_->{starting} } values %attempts) { step_start($a, 0) if vec $reads, fileno $a->{starting}{read}, 1 }
    for my $id (keys %loops) {
      next unless vec $reads, fileno $loops{$id}{read}, 1;
      my $count = sysread $loops{$id}{read}, my $piece, 65_536;
      next if !defined $count && $! == POSIX::EINTR();
      # One who does not listen any more is told nothing.
      if ($count) { say_('loop', $id, $piece) if length $output < 1 << 20 }
      else { delete $loops{$id}; say_('loop-end', $id) }
    }
    for my $name (keys %jobs) {
      next unless vec $reads, fileno $jobs{$name}{read}, 1;
      my $count = sysread $jobs{$name}{read}, $jobs{$name}{text}, 65_536, length $jobs{$name}{text};
      next if !defined $count && $! == POSIX::EINTR();
      job_over($name, 0) if !$count || length $jobs{$name}{text} > 16_777_216;
    }
    if (vec $reads, fileno $in, 1) {
      my $count = sysread $in, $input, 262_144, length $input;
      POSIX::_exit(0) if defined $count ? $count == 0 : $! != POSIX::EINTR();
      $heard = mono() if $count;
      while (length $input >= 4) {
        my $size = unpack 'N', $input;
        last if length $input < 4 + $size;
        my $frame = substr $input, 4, $size;
        substr $input, 0, 4 + $size, '';
        receive(unpack '(N/a*)*', $frame);
        reap();
      }
      # A long one over a slow line: that it arrives is told, since nothing that waits behind it can be answered yet.
      if (length $input && $heard - $taking >= 1) { $taking = $heard; say_('taking', length $input) }
    }
  }
  reap();
  periodic();
  flush();
}

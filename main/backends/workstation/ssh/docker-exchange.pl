# Many streams to the Docker Engine here over one connection, each of them a run of Docker's own command. A server of SSH lets through ten
# sessions on a connection, as a rule; this is one. Perl as a base system has it.
#
#   perl docker-exchange.pl WINDOW WAITING PROGRAM ARGUMENT...
#
# Frames in and out: a length, then texts, each with its length before it (32 bits, big-endian). The first text is the kind, the second
# the number of the stream:
#   in   open ID LISTENING, data ID BYTES, end ID, cancel ID, taken ID COUNT
#   out  data ID BYTES, taken ID COUNT, over ID CODE WORDS
# No more than WINDOW bytes of a stream that were not `taken` are under way in either direction, so that one that is not read holds up no
# other. A program that is listened to (LISTENING 1) is always read: it would make a container wait. Once more than WAITING bytes of it
# wait for whoever is at the other end, it is let go of.
use strict;
use warnings;
use Errno;
use Fcntl;
use POSIX ();

# A stream takes three files. A login may have a thousand open as a rule, which two hundred containers use up, and many more once it asks
# for them: a shell can, Perl cannot. This text, as it was read from the input, comes along.
if (defined(my $text = $main::s)) {
  no warnings 'exec';
  $ENV{IRIS_EXCHANGE} = $text;
  my $line = q{ulimit -S -n "$(ulimit -H -n)" 2>/dev/null; exec perl -e 'eval(delete($ENV{IRIS_EXCHANGE}));die($@)' "$@"};
  exec 'sh', '-c', $line, 'sh', @ARGV;
  delete $ENV{IRIS_EXCHANGE};
}

my ($window, $waiting, @program) = @ARGV;
# Docker's own command looks for an Engine of the user's own only where a setting names it: without one it is the one far-hand.pl finds.
sub own_engine {
  my $folder = $ENV{DOCKER_CONFIG} || ($ENV{HOME} || '') . '/.docker';
  my $settings = '';
  if (open my $file, '<', "$folder/config.json") { local $/; $settings = <$file> }
  return if $ENV{DOCKER_HOST} || $ENV{DOCKER_CONTEXT} || ($settings // '') =~ /"currentContext"\s*:\s*"(?!default")[^"]/;
  my $usual = '/var/run/docker.sock';
  my @own = grep { -S $_ && -r _ && -w _ } map { "$_/docker.sock" } $ENV{XDG_RUNTIME_DIR} || (), "/run/user/$>";
  $ENV{DOCKER_HOST} = "unix://$own[0]" if @own && !(-S $usual && -r _ && -w _);
}
own_engine();
my $queued_at_most = 65_536;
fcntl $_, F_SETFL, O_NONBLOCK | fcntl $_, F_GETFL, 0 for \*STDIN, \*STDOUT;
$SIG{PIPE} = 'IGNORE';
# Only wakes the select below.
$SIG{CHLD} = sub { };

my ($input, $output, $turns, %streams) = ('', "\0iris-far-hand\0", 0);

sub say_ {
  my $frame = join '', map { pack('N', length) . $_ } @_;
  $output .= pack('N', length $frame) . $frame;
}

sub quiet { my ($file) = @_; fcntl $file, F_SETFL, O_NONBLOCK | fcntl $file, F_GETFL, 0; return $file }

sub over {
  my ($id, $code, $words) = @_;
  say_('over', $id, $code, $words);
  delete $streams{$id};
}

sub open_ {
  my ($id, $listening) = @_;
  my ($given, $to, $from, $said, $errors, $wrong);
  pipe($given, $to) && pipe($from, $said) && pipe($errors, $wrong) or return over($id, 126, "$!");
  my $child = fork;
  return over($id, 126, "$!") unless defined $child;
  if ($child == 0) {
    $SIG{$_} = 'DEFAULT' for 'PIPE', 'CHLD';
    open(STDIN, '<&', $given) && open(STDOUT, '>&', $said) && open(STDERR, '>&', $wrong) or POSIX::_exit(126);
    no warnings 'exec';
    exec { $program[0] } @program;
    syswrite STDERR, "$program[0]: $!";
    POSIX::_exit(127);
  }
  $streams{$id} = {
    child => $child, listening => $listening, to => quiet($to), from => quiet($from), errors => quiet($errors),
    input => '', ended => 0, output => '', open => 0, words => '', turn => 0, looks => 0,
  };
}

# By whoever asked for it, or because nobody takes in what it says.
sub cancel {
  my ($id) = @_;
  my $stream = $streams{$id} or return;
  kill 'TERM', $stream->{child} if defined $stream->{child};
  @$stream{qw(to from errors input output)} = (undef, undef, undef, '', '');
  $stream->{left} = 1;
}

sub receive {
  my ($kind, $id, $more) = @_;
  return open_($id, $more) if $kind eq 'open';
  # What has ended meanwhile.
  my $stream = $streams{$id} or return;
  if ($kind eq 'data') { $stream->{input} .= $more if defined $stream->{to} }
  elsif ($kind eq 'end') { $stream->{ended} = 1 }
  elsif ($kind eq 'taken') { $stream->{open} -= $more }
  elsif ($kind eq 'cancel') { cancel($id) }
}

# Undef: it has ended. Otherwise how much more there is in it now.
sub take_in {
  my ($file, $into) = @_;
  my $count = sysread $file, $$into, 65_536, length $$into;
  return $count if $count;
  return defined $count || !($!{EAGAIN} || $!{EINTR}) ? undef : 0;
}

sub give {
  my ($id, $stream) = @_;
  my $count = syswrite $stream->{to}, $stream->{input};
  if (defined $count) {
    substr($stream->{input}, 0, $count) = '';
    say_('taken', $id, $count);
  } elsif (!$!{EAGAIN} && !$!{EINTR}) {
    # It reads no more; what it has to say is still of use.
    @$stream{qw(to input)} = (undef, '');
  }
}

sub wants_reading {
  my ($stream) = @_;
  return defined $stream->{from} && ($stream->{listening} || length $stream->{output} < $queued_at_most);
}

# What was said goes out as far as there is room for it on the way; then the end, once there is nothing before it.
sub pass_on {
  # Whoever had its turn longest ago comes first.
  for my $id (sort { $streams{$a}{turn} <=> $streams{$b}{turn} } keys %streams) {
    my $stream = $streams{$id};
    my $room = $window - $stream->{open};
    if (length $output < $queued_at_most && $room > 0 && length $stream->{output}) {
      my $piece = substr $stream->{output}, 0, $room < 32_768 ? $room : 32_768, '';
      $stream->{open} += length $piece;
      $stream->{turn} = ++$turns;
      say_('data', $id, $piece);
    }
    if (defined $stream->{to} && $stream->{ended} && $stream->{input} eq '') { $stream->{to} = undef }
    next if defined $stream->{from};
    if (defined $stream->{child}) {
      if (waitpid($stream->{child}, POSIX::WNOHANG()) != 0) {
        $stream->{child} = undef;
        $stream->{code} = $? & 127 ? 128 + ($? & 127) : $? >> 8;
        take_in($stream->{errors}, \$stream->{words}) if defined $stream->{errors};
      } elsif ($stream->{left} && ++$stream->{looks} == 50) {
        kill 'KILL', $stream->{child};
      }
    }
    next if defined $stream->{child} || $stream->{output} ne '';
    over($id, $stream->{left} ? 0 : $stream->{code}, $stream->{words});
  }
}

sub leave {
  kill 'TERM', grep { defined } map { $_->{child} } values %streams;
  POSIX::_exit(0);
}

my $over = 0;
for (;;) {
  pass_on();
  my ($in, $out) = ('', '');
  vec($in, 0, 1) = 1;
  vec($out, 1, 1) = 1 if length $output;
  my $ending = 0;
  for my $stream (values %streams) {
    vec($in, fileno $stream->{from}, 1) = 1 if wants_reading($stream);
    vec($in, fileno $stream->{errors}, 1) = 1 if defined $stream->{errors};
    vec($out, fileno $stream->{to}, 1) = 1 if defined $stream->{to} && length $stream->{input};
    $ending ||= !defined $stream->{from} && defined $stream->{child};
  }
  # An end that comes just before this does not wake it.
  my $ready = select $in, $out, undef, $ending ? 0.1 : undef;
  next if $ready <= 0;
  if (vec $in, 0, 1) {
    leave() unless defined take_in(\*STDIN, \$input);
    while (length $input >= 4) {
      my $size = unpack 'N', $input;
      last if length $input < 4 + $size;
      my $frame = substr $input, 4, $size;
      substr($input, 0, 4 + $size) = '';
      receive(unpack '(N/a*)*', $frame);
    }
  }
  for my $id (keys %streams) {
    my $stream = $streams{$id};
    for my $each (['from', 'output'], ['errors', 'words']) {
      my ($file, $into) = @$each;
      next unless defined $stream->{$file} && vec $in, fileno $stream->{$file}, 1;
      $stream->{$file} = undef unless defined take_in($stream->{$file}, \$stream->{$into});
    }
    substr($stream->{words}, 0, -2000) = '' if length $stream->{words} > 2000;
    give($id, $stream) if defined $stream->{to} && length $stream->{input} && vec $out, fileno $stream->{to}, 1;
    cancel($id) if $stream->{listening} && length $stream->{output} > $waiting;
  }
  if (vec $out, 1, 1) {
    my $count = syswrite STDOUT, $output;
    if (defined $count) { substr($output, 0, $count) = '' }
    elsif (!$!{EAGAIN} && !$!{EINTR}) { leave() }
  }
}

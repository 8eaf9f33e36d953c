# Runs a program between our input and output, and reads all it says, whether anybody takes it in or not: what is attached to a container
# makes it wait otherwise. Once more than so many bytes wait for whoever is at the other end, both are let go of.
use strict;
use Errno;
use Fcntl;
my $most = shift @ARGV;
pipe(my $given, my $to) or exit 1;
pipe(my $from, my $said) or exit 1;
my $child = fork();
exit 1 unless defined $child;
if ($child == 0) {
  open(STDIN, "<&", $given);
  open(STDOUT, ">&", $said);
  close $_ for $given, $to, $from, $said;
  exec { $ARGV[0] } @ARGV;
  exit 127;
}
close $given;
close $said;
fcntl(STDOUT, F_SETFL, O_NONBLOCK | fcntl(STDOUT, F_GETFL, 0));
local $SIG{PIPE} = "IGNORE";
my $waiting = "";
my $over = 0;
until ($over and $waiting eq "") {
  my ($in, $out) = ("", "");
  vec($in, 0, 1) = 1;
  vec($in, fileno($from), 1) = 1 unless $over;
  vec($out, 1, 1) = 1 if length $waiting;
  select($in, $out, undef, undef);
  if (vec($in, fileno($from), 1)) {
    $over = 1 unless sysread($from, $waiting, 65536, length $waiting);
    last if length($waiting) > $most;
  }
  if (vec($out, 1, 1)) {
    my $written = syswrite(STDOUT, $waiting);
    last unless defined $written or $!{EAGAIN};
    substr($waiting, 0, $written) = "" if defined $written;
  }
  if (vec($in, 0, 1)) {
    last unless sysread(STDIN, my $piece, 65536);
    syswrite($to, $piece);
  }
}
kill "TERM", $child;
exit 0;

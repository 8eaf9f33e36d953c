# Comes before far-hand.pl in the text that is sent. What the controllers of all logins on this machine hold, by the rules and in the
# files of claims-folder.ts, claim-file.ts and liveness.ts: each must read what the other wrote, and judge it the same way. No
# module reads or writes the JSON, as a base system has none; nothing that somebody puts there may lead or hold us anywhere.
# Longer than other files: it is sent as one text, and reader, writer and rules share the few variables of one package.
{
  package Claims;
  use strict;
  use warnings;
  no warnings 'recursion';
  use POSIX ();
  use Fcntl ();

  # Where this login's own controller on this machine would have it: the same rule as there.
  my $named = $ENV{IRIS_DESKTOP_CLAIMS};
  my ($folder, $controller, $boot, $namespace, $ticks, $login, $broken);
  # Claims of this controller by attempt, with what they hold; logins by number.
  my (%own, %logins);
  my ($seen, $seen_at, $refreshed) = ('', 0, 0);
  my ($most_bytes, $most_entries, $most_generations, $tries) = (32 * 1024, 5000, 99_999, 20);

  # Controller '': nobody is told anything, and nobody asked. Folder '': the usual one.
  sub setup {
    ($folder, $controller) = @_;
    $folder = defined $named && length $named ? $named : '/var/tmp/iris-claims' unless defined $folder && length $folder;
    undef $folder if $folder eq 'none' || !defined $controller || $controller !~ /\A[0-9a-f]{16}\z/;
    %own = ();
    return unless defined $folder;
    $boot = main::line('/proc/sys/kernel/random/boot_id') || 'unknown';
    $namespace = readlink('/proc/self/ns/pid') // 'unknown';
    my $self = stat_of($$);
    $ticks = $self && $self->{ticks};
    $login = (getpwuid $>)[0] // "uid $>";
    return if length problem();
    # What a hand before this one left: its attempts are looked at again, or swept.
    for my $found (grep { $_->{own} } all()) { $own{ $found->{claim}{attempt} } = $found->{claim} }
    for (entries(qr/^\.new-\d+-$controller-/)) { unlink "$folder/$_" if -l "$folder/$_" || -f _ && -o _ }
  }

  # Empty, or one sentence why no claims can be made.
  sub problem {
    my $mask = umask 0;
    my $made = mkdir $folder, 01777;
    my $error = $!;
    umask $mask;
    return "$folder cannot be made: $error" if !$made && $error != POSIX::EEXIST();
    my @stat = lstat $folder or return "$folder cannot be looked at: $!";
    return "$folder is no folder" unless -d _;
    # A system that makes no such folder in one step.
    return problem() if $made && ($stat[2] & 01002) != 01002 && chmod 01777, $folder;
    return sprintf '%s has mode %o; it has to be 1777', $folder, $stat[2] & 07777 if ($stat[2] & 01002) != 01002;
    return '';
  }

  # WHY-NOT CPU MEMORY, then of each device that others claim its name and an owner; one line for each pair.
  sub others {
    return ('', 0, 0) unless defined $folder;
    $seen_at = main::now();
    $seen = main::modified($folder) // '';
    my $why = problem();
    $why = $broken if !length $why && defined $broken && !tries_again();
    return ($why, 0, 0) if length $why;
    my (%attempts, %devices);
    my @all = all(sub { $_[0] =~ /^attempt-(.*)/s && $own{$1} });
    clear(@all);
    for my $found (@all) {
      next if $found->{dead} || $found->{own};
      my $claim = $found->{claim};
      $attempts{"$found->{owner} $claim->{attempt}"} = $claim;
      $devices{"$_\0$found->{owner}"} = [$_, $found->{owner}] for @{ $claim->{devices} };
    }
    my ($cpu, $memory) = (0, 0);
    for (values %attempts) { $cpu += $_->{cpuMillicores}; $memory += $_->{memoryBytes} }
    return ('', $cpu, $memory, map { bytes_of($_) } map { @{ $devices{$_} } } sort keys %devices);
  }

  # What attempts of other controllers have left that nobody sweeps any more, as claims-folder.ts does it: everybody here would read it
  # for ever. Dead claims of cards go with the next that takes the card.
  sub clear {
    for (@_) { remove_same($_) if $_->{dead} && $_->{removable} && !$_->{own} && $_->{name} eq "attempt-$_->{claim}{attempt}" }
  }

  # Unless somebody else has put another there since.
  sub remove_same {
    my ($found) = @_;
    my @stat = lstat "$folder/$found->{name}";
    unlink "$folder/$found->{name}" if @stat && $stat[1] == $found->{inode};
  }

  # Somebody claimed or released something since; a change in the moment of the last look may have been missed by it.
  sub changed {
    return 0 unless defined $folder;
    my $now = main::modified($folder) // '';
    return $now ne $seen || (length $now && abs($seen_at - $now) < 2);
  }

  # Nothing: all of it is its own now. Otherwise `claimed` with the device, whose it is and for which attempt, or `unclaimable`
  # with why; then none of it is.
  sub take {
    my ($uid, $container, $shares, $cpu, $memory, @devices) = @_;
    return unless defined $folder;
    my $why = problem();
    return ('unclaimable', $why) if length $why;
    my $claim = made($uid, $container, $cpu, $memory, @devices);
    my @refused;
    for my $device (@devices) { @refused = take_device($device, $claim, $shares) and last }
    @refused = unclaimable() if !@refused && !replace("attempt-$uid", text_of($claim));
    if (@refused) { give_back($claim); return @refused }
    $own{$uid} = $claim;
    return;
  }

  # One that runs already, under that process if any: it has what nobody else has claimed meanwhile.
  sub adopt {
    my ($uid, $pid, $container, $shares, $cpu, $memory, @devices) = @_;
    return if !defined $folder || length problem();
    my $claim = $own{$uid} = made($uid, $container, $cpu, $memory, @devices);
    $claim->{supervisor} = identity($pid) if defined $pid;
    for my $device (@devices) { take_device($device, $claim, $shares) }
    replace("attempt-$uid", text_of($claim));
  }

  sub made {
    my ($uid, $container, $cpu, $memory, @devices) = @_;
    for ($cpu, $memory) { $_ = 0 unless defined && /\A\d+(?:\.\d+)?\z/ }
    return { attempt => $uid, devices => [@devices], cpuMillicores => $cpu, memoryBytes => $memory, container => $container };
  }

  # It runs under that process, whatever becomes of this one. False: that could not be written.
  sub runs_under {
    my ($uid, $pid) = @_;
    my $claim = $own{$uid} or return 1;
    $claim->{supervisor} = identity($pid);
    my $text = text_of($claim);
    my @names = own_names($claim);
    for ("attempt-$uid", @names) { if (!replace($_, $text)) { unclaimable(); return 0 } }
    return 1 if @names >= @{ $claim->{devices} };
    $broken = "$folder: claims were taken away as soon as they were made";
    return 0;
  }

  sub has { return defined $folder && exists $own{ $_[0] } }
  sub trouble { return $broken // 'it could not be written' }

  sub release {
    my ($uid) = @_;
    return unless defined $folder;
    my $claim = delete $own{$uid} or return;
    give_back($claim);
  }

  # Of this controller: attempts that are claimed for, in containers or not.
  sub attempts {
    my ($container) = @_;
    return grep { !$own{$_}{container} == !$container } keys %own;
  }

  # Files that nobody touches for long are cleaned away by some systems, and a whole folder by some people.
  sub refresh {
    return if !defined $folder || -d $folder && main::mono() - $refreshed < 60;
    $refreshed = main::mono();
    for my $claim (values %own) {
      my @names = own_names($claim);
      if (@names < @{ $claim->{devices} } || !-e "$folder/attempt-$claim->{attempt}") {
        next if length problem();
        my $missing = 0;
        for (@{ $claim->{devices} }) { $missing = 1 if take_device($_, $claim, 1) }
        replace("attempt-$claim->{attempt}", text_of($claim)) unless $missing;
      } else {
        utime undef, undef, map { "$folder/$_" } "attempt-$claim->{attempt}", @names;
      }
    }
  }

  # One try for each time that somebody is first with the same number.
  sub take_device {
    my ($device, $claim, $shares) = @_;
    my $text = text_of($claim);
    my $bars = sub { my ($found) = @_; return !$found->{dead} && $found->{claim}{attempt} ne $claim->{attempt} && !($found->{own} && $shares) };
    my $whose = sub { return ('claimed', $device, $_[0]{owner}, $_[0]{claim}{attempt}) };
    for (1 .. $tries) {
      my $names = names() or return unclaimable();
      my @there = holders($device, @$names);
      my ($holder) = grep { $bars->($_) } @there;
      return $whose->($holder) if $holder;
      my @same = grep { $_->{own} && !$_->{dead} && $_->{claim}{attempt} eq $claim->{attempt} } @there;
      for (@same) { replace($_->{name}, $text) or return unclaimable() }
      return if @same;
      my $name = file_name($device, next_generation($device, @$names));
      my $made = create($name, $text);
      return unclaimable() unless defined $made;
      next unless $made;
      # Somebody may have begun at another number at the same moment: then neither has it.
      my ($other) = grep { $_->{name} ne $name && $bars->($_) } holders($device, @{ names() || [] });
      if ($other) { unlink "$folder/$name"; return $whose->($other) }
      for (grep { $_->{dead} } @there) { remove_same($_) }
      return;
    }
    return ('unclaimable', "$folder: others were first with $device each time");
  }

  sub unclaimable { $broken = "$folder: $!"; return ('unclaimable', $broken) }

  sub tries_again {
    my $name = 'attempt-' . '0' x 16;
    my $next = write_new($name, '') or return 0;
    unlink $next;
    undef $broken;
    return 1;
  }

  sub give_back {
    my ($claim) = @_;
    my $attempt = "attempt-$claim->{attempt}";
    my $found = read_one($attempt);
    for (own_names($claim), $found && $found->{own} ? $attempt : ()) { unlink "$folder/$_" }
  }

  sub own_names {
    my ($claim) = @_;
    my $names = @{ $claim->{devices} } ? names() || [] : [];
    return map { $_->{name} } grep { $_->{own} && $_->{claim}{attempt} eq $claim->{attempt} } map { holders($_, @$names) } @{ $claim->{devices} };
  }

  sub holders {
    my ($device, @names) = @_;
    my $bytes = bytes_of($device);
    return grep { my $claim = $_->{claim}; grep { bytes_of($_) eq $bytes } @{ $claim->{devices} } }
      map { defined generation_of($_, $device) ? read_one($_) || () : () } @names;
  }

  sub all {
    my ($skip) = @_;
    return map { $skip && $skip->($_) ? () : read_one($_) || () } @{ names() || [] };
  }

  sub names { my @found = entries(qr/^(?:device|attempt)-/); return @found && !defined $found[0] ? undef : \@found }

  # Bounded, whatever somebody has put there. One that is undefined: the folder cannot be read.
  sub entries {
    my ($wanted) = @_;
    my @found;
    opendir my $all, $folder or return undef;
    while (defined(my $name = readdir $all)) {
      push @found, $name if $name =~ $wanted;
      last if @found >= $most_entries;
    }
    return @found;
  }

  sub bytes_of { my ($text) = @_; utf8::encode($text) if utf8::is_utf8($text); return $text }

  # As encodeURIComponent does it.
  sub prefix_of { my $text = bytes_of($_[0]); $text =~ s/([^A-Za-z0-9\-_.!~*'()])/sprintf '%%%02X', ord $1/ge; return "device-$text-" }
  sub file_name { return prefix_of($_[0]) . $_[1] }

  sub generation_of {
    my ($name, $device) = @_;
    my $prefix = prefix_of($device);
    return undef unless substr($name, 0, length $prefix) eq $prefix && substr($name, length $prefix) =~ /\A([0-9]{1,5})\z/;
    return $1 < $most_generations ? 0 + $1 : undef;
  }

  sub next_generation {
    my ($device, @names) = @_;
    my %taken = map { $_ => 1 } grep { defined } map { generation_of($_, $device) } @names;
    my $after = 0;
    for (keys %taken) { $after = $_ + 1 if $_ >= $after }
    return $after if $after < $most_generations;
    for ($after = 0; $taken{$after};) { $after++ }
    return $after;
  }

  # A claim with the name it was found under; nothing where it is no proper claim in a file of its own.
  sub read_one {
    my ($name) = @_;
    sysopen(my $file, "$folder/$name", Fcntl::O_RDONLY() | Fcntl::O_NOFOLLOW() | Fcntl::O_NONBLOCK()) or return undef;
    my @stat = stat $file;
    return undef unless @stat && -f _ && $stat[7] <= $most_bytes;
    my $text = '';
    sysread $file, $text, $stat[7] if $stat[7];
    my $claim = parse_claim($text) or return undef;
    my $said = $claim->{owner} =~ s/[^A-Za-z0-9_.@-]//gr;
    # Asked once: a service on the network may know it.
    $logins{ $stat[4] } = (getpwuid $stat[4])[0] // '' unless exists $logins{ $stat[4] };
    my ($owner) = grep { length } $logins{ $stat[4] }, $said, "uid $stat[4]";
    my $own = $stat[4] == $> && $claim->{controller} eq $controller;
    # Of others' files only root and the folder's owner may remove one.
    my $removable = $> == 0 || $stat[4] == $>;
    return { name => $name, inode => $stat[1], owner => $owner, own => $own, dead => is_dead($claim), removable => $removable, claim => $claim };
  }

  # Dead is only what is proved to be: a doubt keeps the claim.
  sub is_dead {
    my ($claim) = @_;
    return $boot ne 'unknown' && $claim->{bootId} ne 'unknown' if $claim->{bootId} ne $boot;
    return 0 if $claim->{pidNamespace} ne $namespace || $claim->{container};
    return is_gone($claim->{host}) && (!defined $claim->{supervisor} || is_gone($claim->{supervisor}));
  }

  # Another user's process may be hidden from /proc, but the system says whether there is one to signal.
  sub is_gone {
    my ($pid, $began) = @{ $_[0] }{qw(pid ticks)};
    return 0 if $pid > 2_147_483_647;
    return 1 if !kill(0, $pid) && $! == POSIX::ESRCH();
    my $entry = stat_of($pid) or return 0;
    return 1 if $entry->{state} eq 'Z' || $entry->{state} eq 'X';
    return defined $began && $entry->{ticks} != $began;
  }

  sub stat_of {
    my $text = main::slurp("/proc/$_[0]/stat", 4096);
    return undef unless defined $text && $text =~ /^\d+ \(.*\) (\S) (.*)$/s;
    return { state => $1, ticks => (split ' ', $2)[18] };
  }

  sub identity { my ($pid) = @_; my $entry = stat_of($pid); return { pid => $pid, ticks => $entry && $entry->{ticks} } }

  # False when it is there already, undefined when it cannot be. It appears with its whole content, never empty.
  sub create {
    my ($name, $text) = @_;
    my $next = write_new($name, $text) or return undef;
    my $made = link $next, "$folder/$name";
    my $error = $!;
    unlink $next;
    return 1 if $made;
    $! = $error;
    return $error == POSIX::EEXIST() ? 0 : undef;
  }

  sub replace {
    my ($name, $text) = @_;
    my $next = write_new($name, $text) or return 0;
    return 1 if rename $next, "$folder/$name";
    my $error = $!;
    unlink $next;
    $! = $error;
    return 0;
  }

  sub write_new {
    my ($name, $text) = @_;
    my $next = "$folder/.new-$$-$controller-$name";
    unlink $next;
    sysopen(my $file, $next, Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_EXCL() | Fcntl::O_NOFOLLOW(), 0644) or return undef;
    # The mask may have hidden it from others.
    my $done = chmod 0644, $file;
    my $count = $done ? syswrite $file, $text : undef;
    return $next if defined $count && $count == length $text && close $file;
    my $error = $! || POSIX::ENOSPC();
    unlink $next;
    $! = $error;
    return undef;
  }

  sub text_of {
    my ($claim) = @_;
    my $identity = sub { my ($one) = @_; return defined $one ? sprintf '{"pid":%d,"startTicks":%s}', $one->{pid}, $one->{ticks} // 'null' : 'null' };
    return sprintf '{"version":1,"owner":%s,"controller":%s,"attempt":%s,"devices":[%s],"cpuMillicores":%s,"memoryBytes":%s,'
      . '"bootId":%s,"pidNamespace":%s,"host":%s,"supervisor":%s,"container":%s}',
      quote($login), quote($controller), quote($claim->{attempt}), join(',', map { quote($_) } @{ $claim->{devices} }),
      $claim->{cpuMillicores}, $claim->{memoryBytes}, quote($boot), quote($namespace),
      $identity->({ pid => $$, ticks => $ticks }), $identity->($claim->{supervisor}), $claim->{container} ? 'true' : 'false';
  }

  sub quote { my $text = bytes_of($_[0]); $text =~ s/(["\\\x00-\x1f])/sprintf '\\u%04x', ord $1/ge; return "\"$text\"" }

  # Values are [kind, value]; a list of none is no JSON.
  sub value {
    my ($text, $depth) = @_;
    return if $depth > 64;
    $$text =~ /\G[ \t\n\r]*/gc;
    return ['n', 0 + $1] if $$text =~ /\G(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/gc;
    return ['c', $1] if $$text =~ /\G(true|false|null)/gc;
    if ($$text =~ /\G"/gc) { my @string = string($text) or return; return ['s', $string[0]] }
    my $closing = $$text =~ /\G\[/gc ? ']' : $$text =~ /\G\{/gc ? '}' : return;
    my (@list, %object);
    for (my $first = 1; ; $first = 0) {
      $$text =~ /\G[ \t\n\r]*/gc;
      last if $$text =~ /\G\Q$closing\E/gc;
      return unless $first || $$text =~ /\G,/gc;
      if ($closing eq ']') { my @one = value($text, $depth + 1) or return; push @list, $one[0] }
      else {
        $$text =~ /\G[ \t\n\r]*"/gc or return;
        my @name = string($text) or return;
        $$text =~ /\G[ \t\n\r]*:/gc or return;
        my @one = value($text, $depth + 1) or return;
        $object{ $name[0] } = $one[0];
      }
      $$text =~ /\G[ \t\n\r]*(?=[,\Q$closing\E])/gc or return;
      return if $$text =~ /\G,[ \t\n\r]*\Q$closing\E/;
    }
    return $closing eq ']' ? ['a', \@list] : ['o', \%object];
  }

  sub string {
    my ($text) = @_;
    my %short = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");
    my @units;
    for (;;) {
      if ($$text =~ /\G([^"\\\x00-\x1f]+)/gc) { push @units, $1 }
      elsif ($$text =~ /\G"/gc) { last }
      elsif ($$text =~ m{\G\\(["\\/])}gc) { push @units, $1 }
      elsif ($$text =~ /\G\\([bfnrt])/gc) { push @units, $short{$1} }
      elsif ($$text =~ /\G\\u[dD]([89abAB][0-9a-fA-F]{2})\\u[dD]([c-fC-F][0-9a-fA-F]{2})/gc) {
        push @units, chr(0x10000 + ((hex("d$1") - 0xd800) << 10) + hex("d$2") - 0xdc00);
      }
      # Half a pair is no character: what is written of it elsewhere is this one.
      elsif ($$text =~ /\G\\u([0-9a-fA-F]{4})/gc) { my $code = hex $1; push @units, chr($code >= 0xd800 && $code < 0xe000 ? 0xfffd : $code) }
      else { return }
    }
    return join '', @units;
  }

  sub parse_claim {
    my ($text) = @_;
    # What is no UTF-8 becomes the same sign that a decoder puts there.
    $text = replaced($text) if $text =~ /[\x80-\xff]/;
    my @read = value(\$text, 0) or return undef;
    return undef unless $text =~ /\G[ \t\n\r]*\z/gc;
    my $all = object($read[0], qw(version owner controller attempt devices cpuMillicores memoryBytes bootId pidNamespace host supervisor container))
      or return undef;
    my ($version, $container) = @$all{qw(version container)};
    return undef unless $version->[0] eq 'n' && $version->[1] == 1 && $container->[0] eq 'c' && $container->[1] ne 'null';
    my %found = (container => $container->[1] eq 'true' ? 1 : 0);
    for (['owner', 256], ['bootId', 64], ['pidNamespace', 64], ['controller', 16], ['attempt', 64]) {
      my ($name, $most) = @$_;
      return undef unless $all->{$name}[0] eq 's' && length($all->{$name}[1]) <= $most;
      $found{$name} = $all->{$name}[1];
    }
    return undef unless $found{controller} =~ /\A[0-9a-f]{16}\z/ && $found{attempt} =~ /\A[0-9a-zA-Z-]{1,64}\z/;
    for (['cpuMillicores', 1e9], ['memoryBytes', 1e18]) {
      my ($name, $most) = @$_;
      return undef unless $all->{$name}[0] eq 'n' && $all->{$name}[1] >= 0 && $all->{$name}[1] <= $most;
      $found{$name} = $all->{$name}[1];
    }
    return undef unless $all->{devices}[0] eq 'a' && @{ $all->{devices}[1] } <= 64;
    for (@{ $all->{devices}[1] }) { return undef unless $_->[0] eq 's' && length $_->[1] && length($_->[1]) <= 255 }
    $found{devices} = [map { $_->[1] } @{ $all->{devices}[1] }];
    for (qw(host supervisor)) {
      if ($_ eq 'supervisor' && $all->{$_}[0] eq 'c' && $all->{$_}[1] eq 'null') { $found{$_} = undef; next }
      my $one = object($all->{$_}, qw(pid startTicks)) or return undef;
      my ($pid, $began) = @$one{qw(pid startTicks)};
      return undef unless $pid->[0] eq 'n' && $pid->[1] >= 1 && $pid->[1] <= 9_007_199_254_740_991 && $pid->[1] == int $pid->[1];
      return undef unless $began->[0] eq 'n' && abs $began->[1] <= 1.7976931348623157e308 || $began->[0] eq 'c' && $began->[1] eq 'null';
      $found{$_} = { pid => $pid->[1], ticks => $began->[0] eq 'n' ? $began->[1] : undef };
    }
    return \%found;
  }

  # With exactly these names.
  sub object {
    my ($value, @names) = @_;
    return undef unless $value->[0] eq 'o' && keys %{ $value->[1] } == @names;
    for (@names) { return undef unless exists $value->[1]{$_} }
    return $value->[1];
  }

  sub replaced {
    my ($text) = @_;
    my $made = '';
    while ($text =~ /\G(?:([\x00-\x7f]+|(?:[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+)|[\x00-\xff])/gc) {
      my $good = $1;
      if (defined $good) { utf8::decode($good); $made .= $good } else { $made .= "\x{fffd}" }
    }
    return $made;
  }
}


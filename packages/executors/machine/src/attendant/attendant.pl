# The attendant: one process of a machine that runs many commands at once for a host, which speaks to it over one stream (standard input
# and output). It and the keepers of its commands are not dumpable: commands of the same user cannot open its streams or its memory.
# As the first process of a container no command can end it. Elsewhere a command can, and the host sees the stream end.
#
# Its first line is `ws-attendant 1`. Then come frames in both directions: 4 bytes length of the rest, a letter, 4 bytes the command, and
# the rest. With the argument `base64`, each line is base64 of a piece of that stream. With `mounts`, it reports changes of mounts. See frames.ts for letters.
#
# A command has credit for each stream: so many bytes may be on their way. Where the host does not read, commands wait in their pipes.
#
# tree.pl, keeper.pl, streams.pl and mounts.pl go before this text.

# what the machine left open is nothing for commands
if (opendir(my $open, '/proc/self/fd')) { call('close', $_ + 0) for grep { /^\d+$/ && $_ > 2 && $_ != fileno $open } readdir $open }
conceal();
$0 = 'ws-attendant';
call('prctl', 36, 1, 0, 0, 0);
$^F = 2;
$SIG{$_} = 'IGNORE' for qw(PIPE HUP INT QUIT TERM USR1 USR2);
binmode $_ for *STDIN, *STDOUT;
my $is_text = grep { $_ eq 'base64' } @ARGV;
watch_mounts() if grep { $_ eq 'mounts' } @ARGV;
my $window = 262144;
my ($longest, $step_after) = (33554432, 7);
open(my $null, '+<', '/dev/null') or exit 1;
fcntl($_, 4, 2048) for *STDIN, *STDOUT;
# The commands by number; the status of those that have ended, and what waits for one; the keepers by process; keepers that are left over.
my (%commands, %status, %waiting, @left);
my ($read, $line, $raw, $wire, $is_over) = ('', '', '', "ws-attendant 1\n", 0);

sub say_ { my ($what, $id, $rest) = @_; $raw .= pack('NaNa*', 5 + length($rest // ''), $what, $id, $rest // '') }

# A command could not begin: it never ran.
sub failed {
  my ($id, $step, $error) = @_;
  delete $commands{$id};
  settle($id, -1);
  say_('f', $id, pack('CN', $step, $error));
}

# Keeps how a command has ended, and begins those that wait for it.
sub settle {
  my ($id, $status) = @_;
  $status{$id} = $status;
  delete $status{ $id - 4096 };
  for my $next (@{ delete $waiting{$id} // [] }) { begin($next) if $commands{$next} }
}

sub order {
  my ($id, $text) = @_;
  my %order = (a => [], e => [], l => []);
  my @fields = unpack('(aN/a)*', $text);
  while (my ($kind, $value) = splice(@fields, 0, 2)) {
    if ($kind =~ /[ael]/) { push @{ $order{$kind} }, $value }
    else { $order{$kind} = $value }
  }
  $commands{$id} = { order => \%order, pending => '', 1 => $window, 2 => $window };
  my $after = $order{w};
  if (defined $after && !defined $status{$after} && $commands{$after}) { push @{ $waiting{$after} }, $id }
  else { begin($id) }
}

sub begin {
  my ($id) = @_;
  my $command = $commands{$id};
  my $order = delete $command->{order};
  my $after = $order->{w};
  return failed($id, $step_after, 0) if defined $after && ($status{$after} // -1) != 0;
  my (@own, @theirs);
  if (defined $order->{t}) {
    sysopen(my $master, '/dev/ptmx', 0402) or return failed($id, 2, $! + 0);
    my $number = pack('i', 0);
    ioctl($master, 0x40045431, $number) or return failed($id, 2, $! + 0);
    ioctl($master, 0x80045430, $number) or return failed($id, 2, $! + 0);
    ioctl($master, 0x5414, $order->{t});
    sysopen(my $slave, '/dev/pts/' . unpack('i', $number), 0402) or return failed($id, 2, $! + 0);
    @own = ($master, $master);
    @theirs = ($slave, $slave, $slave);
    $command->{terminal} = $master;
  }
  else {
    for (0 .. 2) {
      if (!$_ && !$order->{i}) { push @own, undef; push @theirs, $null; next }
      pipe(my $from, my $to) or return failed($id, 1, $! + 0);
      push @own, $_ ? $from : $to;
      push @theirs, $_ ? $to : $from;
    }
  }
  socketpair(my $control, my $far, 1, 1, 0) or return failed($id, 1, $! + 0);
  1 while waitpid(-1, 1) > 0;
  my $keeper = fork;
  return failed($id, 1, $! + 0) unless defined $keeper;
  if (!$keeper) {
    my @fds = map { call('fcntl', fileno $_, 1030, 20) } @theirs, $far;
    # every other descriptor of this process, so that pipes end with their command
    %commands = @own = @theirs = @left = ();
    $_ = undef for $command, $control, $far;
    $0 = 'ws-keeper';
    keep($order, @fds);
    out(1);
  }
  for (grep { $_ } @own, $control) { fcntl($_, 4, 2048); binmode $_ }
  @{$command}{qw(keeper control input)} = ($keeper, $control, $own[0]);
  $command->{streams} = { 1 => $own[1], $own[2] ? (2 => $own[2]) : () };
  # a signal that came while the command waited
  syswrite($control, $_) for @{ delete $command->{early} // [] };
}

# Gives an order to a keeper, which a command may have stopped.
sub instruct {
  my ($command, $what, $signal) = @_;
  my $line = pack('aC', $what, $signal);
  return push(@{ $command->{early} }, $line) if $command->{order};
  return unless $command->{control};
  kill 'CONT', $command->{keeper};
  syswrite($command->{control}, $line);
}

sub take {
  my ($what, $id, $rest) = @_;
  return order($id, $rest) if $what eq 's';
  my $command = $commands{$id} or return;
  if ($what eq 'i') { $command->{pending} .= $rest if $command->{input} || $command->{order} }
  elsif ($what eq 'c') { $command->{is_whole} = 1 }
  elsif ($what eq 'g') { my ($stream, $bytes) = unpack('CN', $rest); $command->{$stream} += $bytes }
  elsif ($what eq 'z') { ioctl($command->{terminal}, 0x5414, $rest) if $command->{terminal} }
  elsif ($what eq 'k') {
    my ($signal, $is_all) = unpack('CC', $rest);
    my $group = pack('i', 0);
    if ($is_all || !$command->{terminal}) { instruct($command, $is_all ? 'S' : 's', $signal) }
    elsif (ioctl($command->{terminal}, 0x540F, $group) && unpack('i', $group) > 1) { kill $signal, -unpack('i', $group) }
  }
  elsif ($what eq 'x') {
    if ($command->{order}) { return failed($id, $step_after, 0) }
    $command->{deadline} //= time + 4;
    instruct($command, 'x', 0);
  }
  else { $is_over = 1 }
}

# Reads the reports of a keeper, and its end.
sub hear {
  my ($id, $command) = @_;
  my $got = sysread($command->{control}, my $reports, 600);
  return if !defined $got;
  look_at_mounts();
  for (unpack('(a6)*', $reports)) {
    my ($what, $byte, $number) = unpack('aCN', $_);
    if ($what eq 'b') { say_('b', $id) }
    elsif ($what eq 'f') { say_('f', $id, pack('CN', $byte, $number)); $command->{is_ended} = $command->{is_failed} = 1; settle($id, -1) }
    elsif ($what eq 'e') {
      $command->{is_ended} = 1;
      say_('e', $id, pack('CC', $byte, $number));
      settle($id, $byte ? -1 : $number);
    }
    elsif ($what eq 'd') { $command->{is_done} = 1 }
    elsif ($what eq 'l') { $command->{survivors} = $number; $command->{gone} = time; push @left, @{$command}{qw(keeper control)} }
  }
  delete $command->{control} if $command->{survivors};
  return if $got > 0;
  delete $command->{control};
  $command->{gone} = time;
  waitpid($command->{keeper}, 0);
  return if $command->{is_done};
  # a command killed its keeper: what it started came to this process
  my %keepers = map { $_->{keeper} ? ($_->{keeper} => 1) : () } values %commands;
  sweep($$, keys %keepers, @left);
  return if $command->{is_ended};
  say_('e', $id, $command->{deadline} ? pack('CC', 1, 9) : pack('CC', 2, 0));
  settle($id, -1);
}

while (1) {
  my ($in, $out) = ('', '');
  vec($in, 0, 1) = 1;
  vec($out, 1, 1) = 1 if length $wire || length $raw;
  my $has_room = length($raw) + length($wire) < $window;
  my $wait;
  while (my ($id, $command) = each %commands) {
    next if $command->{order};
    vec($in, fileno $command->{control}, 1) = 1 if $command->{control};
    vec($out, fileno $command->{input}, 1) = 1 if $command->{input} && length $command->{pending};
    $wait = 0.5 if $command->{deadline} || $command->{gone};
    next unless $has_room;
    for (keys %{ $command->{streams} }) { vec($in, fileno $command->{streams}{$_}, 1) = 1 if $command->{$_} > 0 }
  }
  my $changed = mount_events();
  next if select($in, $out, $changed, $wait) < 0;
  report_mounts($changed);
  if (vec($in, 0, 1)) {
    my $got = sysread(STDIN, my $bytes, 65536);
    if ($got && $is_text) {
      $line .= $bytes;
      $read .= decoded($1) while $line =~ s/^([^\n]*)\n//;
    }
    elsif ($got) { $read .= $bytes }
    elsif (defined $got || ($! != 4 && $! != 11)) { $is_over = 1 }
    while (length $read >= 4) {
      my $length = unpack('N', $read);
      if ($length < 5 || $length > $longest) { $is_over = 1; last }
      last if length $read < 4 + $length;
      take(unpack("x4 aNa@{[$length - 5]}", $read));
      substr($read, 0, 4 + $length, '');
    }
  }
  for my $id (keys %commands) {
    my $command = $commands{$id} or next;
    next if $command->{order};
    hear($id, $command) if $command->{control} && vec($in, fileno $command->{control}, 1);
    my $input = $command->{input};
    feed($id, $command) if $input && (!length $command->{pending} || vec($out, fileno $input, 1));
    for (sort keys %{ $command->{streams} }) {
      my $is_ready = vec($in, fileno $command->{streams}{$_}, 1);
      drain($id, $command, $_) if $has_room && $command->{$_} > 0 && ($is_ready || $command->{gone});
    }
    if ($command->{gone} && !%{ $command->{streams} }) {
      say_('n', $id, pack('N', $command->{survivors} // 0)) unless $command->{is_failed};
      delete $commands{$id};
    }
    elsif ($command->{control} && time > ($command->{deadline} // 1e12)) { kill 'KILL', $command->{keeper} }
  }
  if (!length $wire && length $raw) { $wire = substr($raw, 0, 49152, ''); $wire = encoded($wire) if $is_text }
  if (length $wire) {
    my $wrote = syswrite(STDOUT, $wire);
    if (defined $wrote) { substr($wire, 0, $wrote, '') }
    elsif ($! != 4 && $! != 11) { $is_over = 1 }
  }
  last if $is_over;
}
# The host is gone. Keepers that see the end of this process end their commands.
sweep($$);
exit 0;

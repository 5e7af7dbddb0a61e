# One spare, from its clone to its command: see supervisor.pl.

our (%n, $program, $bytes, $tmp, $net, $uid, $gid, $tracer);

sub report { my $line = "$_[0]\n"; call('write', 4, $line, length $line) }
sub fail { my $e = $! + 0; report("fail $_[0] $e"); out(125) }

# The exit code of a wait status, as a shell gives it.
sub exit_code { my ($got) = @_; return $got & 127 ? 128 + ($got & 127) : $got >> 8 }

# Writes a file of /proc.
sub put {
  my ($path, $text) = @_;
  open(my $f, '>', $path) or fail('map');
  syswrite($f, $text) == length $text or fail('map');
  close $f;
}

# No capability, no new rights, the filter last. The bounding set goes first, then the ambient set, then the rest.
sub confine {
  for my $right (0 .. 63) { last if call('prctl', 24, $right, 0, 0, 0) != 0 }
  call('prctl', 47, 4, 0, 0, 0);
  my $head = pack('LL', 0x20080522, 0);
  my $none = pack('L6', (0) x 6);
  call('capset', $head, $none) == 0 or fail('capabilities');
  call('prctl', 38, 1, 0, 0, 0) == 0 or fail('no-new-privs');
  syscall($n{seccomp}, 1, 0, $program) == 0 or fail('seccomp');
}

# The order: fields of a kind and a value. Covers come in the order in which they are mounted.
sub order {
  my $order = '';
  while (length $order < 4 || length $order < 4 + unpack('V', $order)) {
    my $part = "\0" x 65536;
    my $got = syscall($n{read}, 3, $part, 65536);
    next if $got < 0 && $! == 4;
    out(0) if $got <= 0;
    $order .= substr($part, 0, $got);
  }
  my %o = (a => [], e => [], c => [], f => []);
  my @f = unpack('(V/a)*', substr($order, 4, unpack('V', $order)));
  while (@f) {
    my ($kind, $value) = splice(@f, 0, 2);
    if ($o{$kind}) { push @{ $o{$kind} }, $value }
    else { $o{$kind} = $value }
  }
  return \%o;
}

# Becomes the command.
sub command {
  my $o = order();
  cover($o->{r}, parts($o));
  become_root($o->{r}) if defined $o->{r};
  if (!$o->{i}) {
    my $null = '/dev/null';
    my $fd = call('openat', -100, $null, 0, 0);
    fail('input') if $fd < 0;
    call('dup3', $fd, 0, 0);
    call('close', $fd) if $fd > 2;
  }
  $SIG{$_} = 'DEFAULT' for qw(PIPE FPE);
  my ($path, @argv) = ($o->{a}[0], @{ $o->{a} });
  my $argv = pack('p*', @argv, undef);
  my @env = @{ $o->{e} };
  my $env = pack('p*', @env, undef);
  confine(); # @defence a warm command that keeps a right with which its sandbox: are closed
  my $cwd = $o->{d};
  call('chdir', $cwd) == 0 or fail('chdir');
  report('ready');
  if (!$o->{g}) {
    my $go = "\0";
    my $got;
    do { $got = syscall($n{read}, 3, $go, 1) } while ($got < 0 && $! == 4);
    out(125) unless $got == 1;
  }
  call('close_range', 3, 0xffffffff, 0);
  syscall($n{execve}, $path, $argv, $env);
  my $line = "exec: $path: $!\n";
  call('write', 2, $line, length $line);
  out($! == 2 ? 127 : 126);
}

# The first process of a spare. Arguments: what become its descriptors 0 to 4, and one from which it hears that it is traced.
sub first {
  my @fds = map { call('fcntl', $_, 0, 10) } @_;
  for (@fds) { out(125) if $_ < 0 }
  call('dup3', $fds[$_], $_, 0) for 0 .. $#fds;
  call('close_range', scalar(@fds), 0xffffffff, 0);
  if ($tracer) {
    my $traced = "\0";
    out(125) unless syscall($n{read}, 5, $traced, 1) == 1;
    call('close', 5);
    filter_listings();
  }
  put('/proc/self/setgroups', 'deny');
  put('/proc/self/uid_map', "$uid $uid 1");
  put('/proc/self/gid_map', "$gid $gid 1");
  my $pts = '/dev/pts';
  my $size = "mode=1777,size=$bytes";
  mounted('proc', 'proc', '/proc', 15, '');
  memory('shm', '/dev/shm', 0, $size); # @defence a warm command that finds what the last one left: leaves nothing for the next
  mounted('pts', 'devpts', $pts, 10, 'newinstance,ptmxmode=0666,mode=620'); # @defence a warm command that finds what the last one left: shares its sockets alone
  memory('tmp', '/tmp', 0, $size) if $tmp;
  if ($net) {
    socket(my $s, 2, 2 | 0x80000, 0) or fail('loopback');
    my $up = pack('a16sx22', 'lo', 0x41);
    call('ioctl', fileno $s, 0x8914, $up) == 0 or fail('loopback');
  }
  call('setsid');
  call('prctl', 4, 0, 0, 0, 0) == 0 or fail('dumpable'); # @defence a warm command that forges its exit status: can neither forge
  my $pid = fork;
  fail('fork') unless defined $pid;
  command() if !$pid;
  call('close_range', 0, 3, 0);
  confine();
  while (1) {
    my $ended = waitpid(-1, 0);
    out(exit_code($?)) if $ended == $pid;
    out(125) if $ended < 0 && $! != 4;
  }
}

# Clones the first process of a spare.
sub clone_first {
  my $pid = call('clone', 0x38020011 | ($net ? 0x40000000 : 0), 0, 0, 0, 0);
  first(@_) if !$pid;
  return $pid;
}

# The supervisor of warm commands: process 1 of a sandbox that bubblewrap has built. It has no capability. It makes spares on demand,
# and each spare becomes one command.
#
# A spare is one `clone` into new user, PID, mount and IPC namespaces, and a network namespace where commands have none of the host's.
# Its user namespace is its own, so that no count of the kernel (processes, signals, queues) is shared with a neighbour. In that
# namespace it has every right over its own mounts. All mounts that it inherits are locked by the kernel.
#
# 1. The first process mounts `/proc`, `/dev/shm`, `/dev/pts` and, without a scratch directory, `/tmp`. It then forks the
#    command-to-be, drops all rights, loads the filter, and stays as process 1 of the namespace. It is not dumpable, so that the
#    command can neither read nor write its memory or its descriptors.
# 2. The command-to-be reads its order, covers what rules protect, and drops all rights in the same way. It reports `ready`, waits
#    for the word to go, and becomes the command.
# 3. The first process ends with the status of the command. The kernel ends every other process of the namespace, and tells the
#    supervisor only then.
#
# Where the workspace's own directory is to be the root, the supervisor has it at a place of its own. The command-to-be puts the
# tree together there, and makes it the root, once the names in it are reserved. The listings of such a spare are traced (hide.pl of
# @ws/sandbox). Each has a tracer of its own: a process of the supervisor's namespace, and the parent of the spare. It reports the
# status. Where it ends without one, a listing may have been wrong.
#
# A step that fails is reported by its name and error. The command never runs then.
#
# Arguments: numbers of system calls, descriptors of the control channel and of the filter, bytes of each file system in memory,
# whether `/tmp` is one, whether the network is new, uid, gid; where listings are traced: the directory, the names, the tracer's text.

our (%n, %hide, $pid, $major, $minor, $inode);
my ($numbers, $control, $filter, $bytes, $tmp, $net, $uid, $gid, $root, $names, $trace) = splice(@ARGV, 0, 11);
$_ += 0 for $control, $filter, $bytes, $tmp, $net, $uid, $gid;
%n = map { my ($k, $v) = split /=/; ($k, $v + 0) } split /,/, $numbers;
sub call { my ($name, @arguments) = @_; return syscall($n{$name}, @arguments) }
# Ends this process alone, without a word from perl.
sub out { call('exit_group', $_[0]) }

open(my $c, '+<&=', $control) or exit 1;
binmode $c;
my $code = '';
{
  open(my $f, '<&=', $filter) or exit 1;
  binmode $f;
  local $/;
  $code = <$f>;
  close $f;
}
exit 1 unless length $code;
my $program = pack('Sx6P', length($code) / 8, $code);
# what perl opens above 2 is closed by `exec`
$^F = 2;
$SIG{PIPE} = 'IGNORE';
my (%spares, $last);
my $read = '';

my $tracer;
if (defined $trace) {
  ($major, $minor, $inode) = map { $_ + 0 } split /:/, $root;
  %hide = map { pack('H*', $_) => 1 } split /,/, $names;
  $tracer = eval "sub { $trace\n\$got }";    ## no critic (ProhibitStringyEval)
  exit 1 unless $tracer;
}

sub report { my $line = "$_[0]\n"; call('write', 4, $line, length $line) }
sub fail { my $e = $! + 0; report("fail $_[0] $e"); out(125) }

# Writes a file of /proc.
sub put {
  my ($path, $text) = @_;
  open(my $f, '>', $path) or fail('map');
  syswrite($f, $text) == length $text or fail('map');
  close $f;
}

# Mounts a file system, or fails in a step.
sub mounted {
  my ($step, $type, $at, $flags, $data) = @_;
  call('mount', $type, $at, $type, $flags, $data) == 0 or fail($step);
}

# Mounts a file system in memory: without setuid programs and devices.
sub memory { my ($step, $at, $flags, $data) = @_; mounted($step, 'tmpfs', $at, 6 | $flags, $data) }

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

# Mounts one place over another, with all that is mounted below it.
sub bind_ {
  my ($step, $from, $at) = @_;
  my $type = '';
  call('mount', $from, $at, $type, 0x5000, $type) == 0 or fail($step);
}

# The parts of an order, each with the place that it is mounted over. A part says what it shows: `self` (what is there), `empty`,
# `closed`, the mask of a file; and in a tree that is put together `self` (a place of the supervisor's), `system`, `again` (the tree).
sub parts {
  my ($o) = @_;
  my @from = @{ $o->{f} };
  return map {
    my ($show, $type, $access, $at) = split / /, $_, 4;
    my $from = @from ? shift @from : $at;
    $at = $o->{r} . ($at eq '/' ? '' : $at) if defined $o->{r};
    +{ show => $show, type => $type, ro => $access eq 'ro', at => $at, from => $from }
  } @{ $o->{c} };
}

# Mounts the parts of an order. Everything is opened before anything is covered: a part can lie below one that is closed.
sub cover {
  my ($top, @parts) = @_;
  for (@parts) {
    next unless $_->{show} eq 'self';
    $_->{fd} = call('openat', -100, $_->{from}, 0x200000 | 0x80000 | $n{nofollow}, 0);
    fail('open') if $_->{fd} < 0;
  }
  my ($mask, @closed);
  # once their open parts have their place in them
  my $seal = sub { unwritable($_, 'alone') for splice @closed };
  for (@parts) {
    my ($show, $at) = ($_->{show}, $_->{at});
    if ($show eq 'self') {
      bind_('bind', "/proc/self/fd/$_->{fd}", $at);
      call('close', $_->{fd});
      unwritable($at) if $_->{ro};
    }
    elsif ($show eq 'system') { bind_('system', $_->{from}, $at) }
    elsif ($show eq 'again') { $seal->(); bind_('again', $top, $at) }
    elsif ($_->{type} eq 'file') {
      # not before: the tree takes its `/dev` along
      $mask //= mask();
      bind_('mask', $mask, $at);
      unwritable($at);
    }
    elsif ($show eq 'closed') {
      closed($at, @parts);
      push @closed, $at;
    }
    else {
      memory('mask', $at, 1, 'size=4096,mode=' . ($show eq 'empty' ? '0555' : '0000'));
    }
  }
  $seal->();
  my $shm = '/dev/shm';
  if (defined $mask) { call('umount2', $shm, 2) == 0 or fail('mask') }
}

# Makes the file that masks others, and answers its path.
sub mask {
  my $shm = '/dev/shm';
  memory('mask', $shm, 0, 'mode=0700,size=4096');
  my $mask = "$shm/mask";
  my $fd = call('openat', -100, $mask, 0xc1, 0);
  fail('mask') if $fd < 0;
  call('close', $fd);
  return $mask;
}

# Makes a directory the root of all in this namespace, and lets go of the former one.
sub become_root {
  my ($top) = @_;
  my ($here, $slash) = ('.', '/');
  call('chdir', $top) == 0 or fail('root');
  call('pivot_root', $here, $here) == 0 or fail('root');
  call('umount2', $here, 2) == 0 or fail('root');
  call('chdir', $slash) == 0 or fail('root');
}

# Seals one mount, and those below it unless it is to be alone.
sub unwritable {
  my ($at, $alone) = @_;
  my $set = pack('QQQQ', 1, 0, 0, 0);
  call('mount_setattr', -100, $at, $alone ? 0x100 : 0x8100, $set, 32) == 0 or fail('read-only');
}

# Nothing is made by a name in the workspace: a closed directory gets the places of its open parts before it is mounted.
sub closed {
  my ($at, @covers) = @_;
  my $shm = '/dev/shm';
  memory('closed', $shm, 0, 'size=4096,mode=0111');
  for (@covers) {
    next unless index($_->{at}, "$at/") == 0;
    my $path = $shm;
    my @names = split m{/}, substr($_->{at}, length($at) + 1);
    my $name = pop @names;
    for (@names) { $path .= "/$_"; call('mkdirat', -100, $path, 0755) }
    $path .= "/$name";
    if ($_->{type} ne 'file') { call('mkdirat', -100, $path, 0755); next }
    my $fd = call('openat', -100, $path, 0x41, 0600);
    call('close', $fd) if $fd >= 0;
  }
  bind_('closed', $shm, $at);
  call('umount2', $shm, 2) == 0 or fail('closed');
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
  confine();
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
  memory('shm', '/dev/shm', 0, $size);
  mounted('pts', 'devpts', $pts, 10, 'newinstance,ptmxmode=0666,mode=620');
  memory('tmp', '/tmp', 0, $size) if $tmp;
  if ($net) {
    socket(my $s, 2, 2 | 0x80000, 0) or fail('loopback');
    my $up = pack('a16sx22', 'lo', 0x41);
    call('ioctl', fileno $s, 0x8914, $up) == 0 or fail('loopback');
  }
  call('setsid');
  call('prctl', 4, 0, 0, 0, 0) == 0 or fail('dumpable');
  my $pid = fork;
  fail('fork') unless defined $pid;
  command() if !$pid;
  call('close_range', 0, 3, 0);
  confine();
  while (1) {
    my $ended = waitpid(-1, 0);
    out($? & 127 ? 128 + ($? & 127) : $? >> 8) if $ended == $pid;
    out(125) if $ended < 0 && $! != 4;
  }
}

# Clones the first process of a spare.
sub clone_first {
  my $pid = call('clone', 0x38020011 | ($net ? 0x40000000 : 0), 0, 0, 0, 0);
  first(@_) if !$pid;
  return $pid;
}

# A spare whose listings are traced: answers the tracer, where it says the status, and the first process.
sub traced {
  pipe(my $from, my $to) or return;
  my $parent = fork;
  return unless defined $parent;
  trace_(fileno $to, @_) if !$parent;
  close $to;
  my $said = '';
  until ($said =~ /\n/) {
    my $got = sysread($from, $said, 32, length $said);
    next if !defined $got && $! == 4;
    last unless $got;
  }
  my ($first) = $said =~ /^(\d+)\n/;
  return ($parent, $from, $first + 0) if $first;
  waitpid($parent, 0);
  return;
}

# The tracer of one spare, and its parent. It says the number of the first process, and later its status.
sub trace_ {
  my ($say, @fds) = @_;
  pipe(my $from, my $to) or out(1);
  $pid = clone_first(@fds, fileno $from);
  out(1) if $pid < 0;
  # as in hide.pl
  call('ptrace', 0x4206, $pid, 0, 0x1 | 0x2 | 0x4 | 0x8 | 0x80 | 0x100000) == 0 or out(1);
  my $line = "$pid\n";
  syscall($n{write}, $say, $line, length $line) == length $line or out(1);
  syscall($n{write}, fileno $to, $line, 1) == 1 or out(1);
  call('dup3', $say, 0, 0);
  call('close_range', 1, 0xffffffff, 0);
  my $status = $tracer->();
  $line = ($status & 127 ? 128 + ($status & 127) : $status >> 8) . "\n";
  syscall($n{write}, 0, $line, length $line);
  out(0);
}

# Says a line to Node, whole.
sub say_ {
  my $line = join(' ', @_) . "\n";
  my $at = 0;
  while ($at < length $line) {
    my $n = syswrite($c, $line, length($line) - $at, $at);
    exit 1 unless defined $n || $! == 4;
    $at += $n // 0;
  }
}

# Makes a spare, and says its number, process and descriptors, or `short` and the error.
sub spare {
  my @pipes;
  for (0 .. 4) { pipe(my $r, my $w) or return say_('short', $! + 0); push @pipes, [$r, $w] }
  my ($order, $in, $stdout, $stderr, $report) = @pipes;
  my @fds = map { fileno $_ } $in->[0], $stdout->[1], $stderr->[1], $order->[0], $report->[1];
  my ($pid, $status, $first) = $tracer ? traced(@fds) : clone_first(@fds);
  return say_('short', $! + 0) if !defined $pid || $pid < 0;
  $first //= $pid;
  my @held = map { call('pidfd_open', $_, 0) } $first, ($tracer ? $pid : ());
  if ($held[0] < 0 || $held[-1] < 0) { my $e = $! + 0; kill 9, $first, $pid; waitpid($pid, 0); return say_('short', $e) }
  for (@held) { open(my $held, '<&=', $_) or exit 1; $_ = $held }
  my $id = ++$last;
  my @own = ($order->[1], $in->[1], $stdout->[0], $stderr->[0], $report->[0]);
  $spares{$id} = { pid => $pid, held => $held[-1], own => \@own, status => $status, first => $first, first_held => $held[0] };
  say_('spare', $id, $first, map { fileno $_ } $held[0], @own);
}

# A process of a spare was waited for, with this status. Says how the spare has ended; without its tracer, once it has.
sub ended {
  my ($id, $spare, $got) = @_;
  delete $spares{$id};
  return say_('unlisted', $id, $spare->{unreadable}) if defined $spare->{unreadable};
  return say_('end', $id, $got & 127 ? 128 + ($got & 127) : $got >> 8) unless $spare->{status};
  my $said = '';
  sysread($spare->{status}, $said, 32);
  my ($status) = $got == 0 ? $said =~ /^(\d+)\n/ : ();
  return say_('end', $id, $status) if defined $status;
  my ($first, $held) = @{$spare}{qw(first first_held)};
  kill 9, $first;
  $spares{$id} = { pid => $first, held => $held, unreadable => $got >> 8 == $n{unreadable} ? 1 : 0 };
  return;
}

say_('hello', length $code);
while (1) {
  my $in = '';
  vec($in, $control, 1) = 1;
  vec($in, fileno $spares{$_}{held}, 1) = 1 for keys %spares;
  next if select($in, undef, undef, undef) <= 0;
  for my $id (sort { $a <=> $b } keys %spares) {
    my $spare = $spares{$id};
    next unless vec($in, fileno $spare->{held}, 1);
    next unless waitpid($spare->{pid}, 0) == $spare->{pid};
    ended($id, $spare, $?);
  }
  if (vec($in, $control, 1)) {
    my $got = sysread($c, $read, 65536, length $read);
    next if !defined $got && $! == 4;
    exit 0 unless $got;
    while ($read =~ s/^([^\n]*)\n//) {
      my ($what, $id) = split / /, $1;
      if ($what eq 'make') { spare() }
      elsif ($what eq 'opened') { delete $spares{$id}{own} if $spares{$id} }
      else { exit 1 }
    }
  }
}

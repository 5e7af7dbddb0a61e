# The supervisor of warm commands: process 1 of a sandbox that bubblewrap has built. It has no capability. It makes spares on demand,
# and each spare becomes one command.
#
# A spare is one `clone` into new user, PID, mount and IPC namespaces, and a network namespace where commands have none of the host's.
# Its user namespace is its own, so that its limit of processes counts its own processes only. In that
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
# A step that fails is reported by its name and error. The command never runs then. The text of tree.pl and spare.pl goes before
# this one.
#
# Arguments: numbers of system calls, descriptors of the control channel and of the filter, bytes of each file system in memory,
# whether `/tmp` is one, whether the network is new, uid, gid; where listings are traced: the directory, the names, the tracer's text.

our (%n, %hide, $pid, $major, $minor, $inode, $program, $bytes, $tmp, $net, $uid, $gid, $tracer);
my ($numbers, $control, $filter);
($numbers, $control, $filter, $bytes, $tmp, $net, $uid, $gid, my ($root, $names, $trace)) = splice(@ARGV, 0, 11);
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
$program = pack('Sx6P', length($code) / 8, $code);
# what perl opens above 2 is closed by `exec`
$^F = 2;
$SIG{PIPE} = 'IGNORE';
# Spares; and the descriptors of those that ended before Node had opened them, by which it sees that.
my (%spares, %unopened, $last);
my $read = '';

if (defined $trace) {
  ($major, $minor, $inode) = map { $_ + 0 } split /:/, $root;
  %hide = map { pack('H*', $_) => 1 } split /,/, $names;
  $tracer = eval "sub { $trace\n\$got }";    ## no critic (ProhibitStringyEval)
  exit 1 unless $tracer;
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
  seize($pid) or out(1);
  my $line = "$pid\n";
  syscall($n{write}, $say, $line, length $line) == length $line or out(1);
  syscall($n{write}, fileno $to, $line, 1) == 1 or out(1);
  call('dup3', $say, 0, 0);
  call('close_range', 1, 0xffffffff, 0);
  my $status = $tracer->();
  $line = exit_code($status) . "\n";
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
  $spares{$id} = { pid => $pid, held => $held[-1], own => \@own, status => $status, tracer => $status, first => $first, first_held => $held[0] };
  say_('spare', $id, $first, map { fileno $_ } $held[0], @own);
}

# A process of a spare was waited for, with this status. Says how the spare has ended; without its tracer, once it has.
sub ended {
  my ($id, $spare, $got) = @_;
  $unopened{$id} = [$spare->{own}, $spare->{first_held}] if $spare->{own};
  delete $spares{$id};
  return if $spare->{said};
  return say_('unlisted', $id, $spare->{unreadable}) if defined $spare->{unreadable};
  return say_('end', $id, exit_code($got)) unless $spare->{tracer};
  my ($first, $held) = @{$spare}{qw(first first_held)};
  kill 9, $first;
  $spares{$id} = { pid => $first, held => $held, unreadable => $got >> 8 == $n{unreadable} ? 1 : 0 };
  return;
}

# Reads the status that the tracer of a spare has written, or the end of its pipe. Does not wait for the tracer to exit.
sub said {
  my ($id, $spare) = @_;
  my $said = '';
  my $got;
  do { $got = sysread($spare->{status}, $said, 32) } while (!defined $got && $! == 4);
  delete $spare->{status};
  my ($status) = $said =~ /^(\d+)\n/ or return;
  $spare->{said} = 1;
  return say_('end', $id, $status);
}

say_('hello', length $code);
while (1) {
  my $in = '';
  vec($in, $control, 1) = 1;
  for (values %spares) { vec($in, fileno $_, 1) = 1 for grep { $_ } @{$_}{qw(held status)} }
  next if select($in, undef, undef, undef) <= 0;
  for my $id (sort { $a <=> $b } keys %spares) {
    my $spare = $spares{$id};
    my $is_over = vec($in, fileno $spare->{held}, 1);
    said($id, $spare) if $spare->{status} && ($is_over || vec($in, fileno $spare->{status}, 1));
    next unless $is_over;
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
      elsif ($what eq 'opened') { delete $unopened{$id}; delete $spares{$id}{own} if $spares{$id} }
      else { exit 1 }
    }
  }
}

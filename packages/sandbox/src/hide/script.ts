/**
 * The listing supervisor: perl, which traces a command and all that it starts. A seccomp filter (`SECCOMP_RET_TRACE`)
 * stops callers of `getdents64` and `getdents`. The kernel does each call. Where it listed one directory, known by
 * device and inode, the entries of given names are then taken out of the result. It is a view and no boundary: a caller
 * that changes a descriptor at the same moment in another thread can see the names, and nothing else rests on that.
 *
 * - A stopped caller takes no signal but SIGKILL, and the kernel's own call waits for nothing. So a signal cuts no
 *   listing short.
 * - A thread that is traced keeps its number until it is waited for: no other one is met under it.
 * - Every thread is traced from its first instruction (`PTRACE_O_TRACECLONE` and its like). `CLONE_UNTRACED` would make
 *   an exception, and the filter of the sandbox refuses that.
 * - A caller that made itself unreadable is looked at by the right of the owner of its user namespace. Where that does
 *   not do, all is ended with {@link unreadableCaller}: most programs take a refused listing for an empty one. Only the
 *   first two processes, bubblewrap's own, are let through.
 * - A stop that this filter did not order (a program's own filter) gets `ENOSYS`, as without a tracer.
 * - The death of this process ends all that it traces (`PTRACE_O_EXITKILL`), and the death of the parent ends this
 *   process.
 *
 * Arguments: the parent's process number, a descriptor from which one byte is awaited, numbers of system calls and
 * places of registers, device (major, minor) and inode, the names in hexadecimal, {@link superviseScript}, and the
 * command.
 */
export const hideScript = String.raw`
my ($parent, $start, $numbers, $root, $names, $supervise) = splice(@ARGV, 0, 6); $_ += 0 for $parent, $start;
my %n = map { my ($k, $v) = split /=/; ($k, $v + 0) } split /,/, $numbers; my $mark = 0x6c73;
my ($major, $minor, $inode) = map { $_ + 0 } split /:/, $root; my %hide = map { pack('H*', $_) => 1 } split /,/, $names;
sub fail { my $e = $! + 0; syswrite(STDERR, "listing supervisor: $_[0] $e ($!)\n"); exit 126 }
syscall($n{prctl}, 1, 9, 0, 0, 0) >= 0 or fail('parent'); getppid() == $parent or exit 126;
my $go = "\0"; syscall($n{read}, $start, $go, 1) == 1 or exit 126;
pipe(my $from, my $to) or fail('pipe');
my $pid = fork; fail('fork') unless defined $pid;
if (!$pid) { close($to); sysread($from, my $traced, 1) == 1 or exit 126;
  syscall($n{prctl}, 38, 1, 0, 0, 0) >= 0 or fail('no-new-privs');
  my @calls = grep { defined } @n{qw(getdents64 getdents)};
  my @code = ([0x20, 0, 0, 4], [0x15, 0, @calls + 1, $n{architecture}], [0x20, 0, 0, 0],
    (map { [0x15, @calls - $_, 0, $calls[$_]] } 0 .. $#calls), [6, 0, 0, 0x7fff0000], [6, 0, 0, 0x7ff00000 | $mark]);
  my $filter = join('', map { pack('SCCL', @$_) } @code); my $program = pack('Sx6P', scalar(@code), $filter);
  syscall($n{seccomp}, 1, 0, $program) == 0 or fail('seccomp');
  exec { $ARGV[0] } @ARGV; fail('exec') }
# SEIZE. Stops of system calls told apart from signals; fork, vfork, clone, seccomp; and the end of all with this process.
syscall($n{ptrace}, 0x4206, $pid, 0, 0x1 | 0x2 | 0x4 | 0x8 | 0x80 | 0x100000) == 0 or fail('ptrace');
syswrite($to, 'x'); close($to); close($from);
eval $supervise; die $@ if $@;
`

/** The status with which the supervisor ends where it could not look at a caller that listed a directory. */
export const unreadableCaller = 77

/** The part of the script that runs once the command is started. */
export const superviseScript = String.raw`
syscall($n{close_range}, 0, 0xffffffff, 0);
my $any = join '|', map { quotemeta } sort keys %hide; $any = qr/(?:$any)\0/;
my ($CONT, $SYSCALL, $LISTEN, $GETREGS, $SETREGS, $INFO) = (7, 24, 0x4208, 0x4204, 0x4205, 0x420e);
my ($wanted, $status, $self, $info) = (pack('QLL', $inode, $major, $minor), "\0" x 256, '', "\0" x 88);
# The kernel is given the address of these bytes. The first write makes them this variable's own (perl copies on write).
my $registers = "\0" x $n{registers}; vec($registers, 0, 8) = 0; my $part = pack('PQ', $registers, $n{registers});
my %stopping = map { $_ => 1 } 19, 20, 21, 22;
my %waiting; # Calls for the directory that the kernel is doing: thread => [descriptor, call, address]

sub go { my ($how, $tid, $signal) = @_; syscall($n{ptrace}, $how, $tid, 0, $signal // 0) }
sub field { my ($tid, $name) = @_; open(my $f, '<', "/proc/$tid/status") or return 0; while (<$f>) { return $1 if /^$name:\s+(\d+)/ } 0 }
sub own { my ($tid) = @_; my $tgid = field($tid, 'Tgid'); $tgid == $pid || field($tid, 'PPid') == $pid }
# Through /proc, else by a copy of the descriptor; false where there is none, or no caller any more.
sub look { my ($tid, $fd) = @_;
  return 1 if syscall($n{statx}, -100, "/proc/$tid/fd/$fd", 0x4000, 0x100, $status) >= 0;
  my $process = syscall($n{pidfd_open}, $tid, 0x80); $process = syscall($n{pidfd_open}, field($tid, 'Tgid') + 0, 0) if $process < 0;
  my $copy = $process < 0 ? -1 : syscall($n{pidfd_getfd}, $process, $fd, 0); my $error = $! + 0;
  my $seen = $copy >= 0 && syscall($n{statx}, $copy, $self, 0x5000, 0x100, $status) >= 0;
  $_ < 0 or syscall($n{close}, $_) for $copy, $process;
  $seen || $copy < 0 && ($error == 9 || $error == 3) || own($tid) or exit $n{unreadable}; $seen }
sub registers { syscall($n{ptrace}, $_[0], $_[1], 1, $part) == 0 }
sub place { my ($at, $value) = @_; substr($registers, $at, 8) = pack('q', $value) }
sub copy { my ($way, $tid, undef, $memory) = @_; my ($here, $there) = (pack('PQ', $_[2], length $_[2]), pack('QQ', $memory, length $_[2]));
  my $copied = syscall($way, $tid, $here, 1, $there, 1, 0); return 1 if $copied == length $_[2];
  exit $n{unreadable} if $copied < 0 && $! != 14 && $! != 3; 0 }

sub called { my ($tid) = @_;
  return if syscall($n{ptrace}, $INFO, $tid, 88, $info) <= 0; # It was killed.
  my ($call, $fd, $memory, $ordered) = unpack('x24QQQx32L', $info); $fd &= 0xffffffff;
  return absent($tid) if $ordered != $mark;
  return go($CONT, $tid) unless look($tid, $fd) && substr($status, 32, 8) . substr($status, 136, 8) eq $wanted;
  $waiting{$tid} = [$fd, $call, $memory]; go($SYSCALL, $tid) }
sub absent { my ($tid) = @_; registers($GETREGS, $tid) or return;
  place($n{result}, -38); place($n{number}, -1) if $n{number}; registers($SETREGS, $tid);
  if (!$n{number}) { my $none = pack('l', -1); my $where = pack('PQ', $none, 4); syscall($n{ptrace}, $SETREGS, $tid, 0x404, $where) }
  go($CONT, $tid) }
sub listed { my ($tid, $fd, $call, $memory) = @_; registers($GETREGS, $tid) or return;
  my $size = unpack('q', substr($registers, $n{result}, 8)); return if $size <= 0 || $size > 0x1000000;
  my $read = "\0" x $size; vec($read, 0, 8) = 0; my ($out, $head) = ('', $call == $n{getdents64} ? 19 : 18);
  if (!copy($n{vm_readv}, $tid, $read, $memory)) { place($n{result}, -14) }
  else { return if $read !~ $any;
    for (my $o = 0; $o + $head < $size;) { my $length = unpack('S', substr($read, $o + 16, 2)); last if $length <= $head;
      $out .= substr($read, $o, $length) unless $hide{unpack('Z*', substr($read, $o + $head, $length - $head))}; $o += $length }
    if ($out ne '') { place($n{result}, copy($n{vm_writev}, $tid, $out, $memory) ? length $out : -14) }
    else { # A length of 0 would mean the end: the call is made again.
      place($n{result}, $n{number} ? $call : $fd); place($n{at}, unpack('q', substr($registers, $n{at}, 8)) - $n{instruction}) } }
  registers($SETREGS, $tid) }

my $word = "\0" x 4;
while (1) {
  my $tid = syscall($n{wait4}, -1, $word, 0x40000000, 0); if ($tid < 0) { next if $! == 4; exit 1 }
  my $got = unpack('l', $word); my ($signal, $event) = ($got >> 8 & 0xff, $got >> 16);
  if (($got & 0xff) != 0x7f) { delete $waiting{$tid}; last if $tid == $pid }
  elsif ($event == 7) { called($tid) }
  elsif ($event == 128) { go($stopping{$signal} ? $LISTEN : $CONT, $tid) }
  elsif ($event) { go($CONT, $tid) }
  elsif ($signal == 0x85) { my $of = delete $waiting{$tid}; listed($tid, @$of) if $of; go($CONT, $tid) }
  else { go($CONT, $tid, $signal) } }
`

/**
 * The listing supervisor: perl, which starts a command with a seccomp filter that asks it about `getdents64` and `getdents`,
 * and nothing else. For one directory, told by device and inode, it answers with the entries but for those of given names;
 * every other directory is read as ever. It is a view and no boundary: a caller that changes a descriptor at the same
 * moment in another thread can see the names, and nothing else rests on that.
 *
 * - The command is made by `clone` with the table of descriptors shared, which ends with its `exec`: so the listener is here
 *   without being sent, and without the right to trace that `pidfd_getfd` would need.
 * - The caller's memory and process are opened first. Only then is the notification checked: while it stands, the caller
 *   waits in its call, and the number was not given to another process.
 * - Entries are read through the caller's own open file, whose position moves as it must. Where the caller gets nothing
 *   (bad memory, a signal), the position is put back.
 * - A caller that cannot be looked at (a program that may not be read) is refused. Only the first two processes,
 *   bubblewrap's own, are not.
 * - The death of the parent ends it, and with that the command, which asks for the same.
 *
 * Arguments: the parent's process number, a descriptor from which one byte is awaited, numbers of system calls, device (major, minor) and
 * inode, the names in hexadecimal, {@link superviseScript}, and the command.
 */
export const hideScript = String.raw`
my ($parent, $start, $numbers, $root, $names, $supervise) = splice(@ARGV, 0, 6); $_ += 0 for $parent, $start;
my %n = map { my ($k, $v) = split /=/; ($k, $v + 0) } split /,/, $numbers;
my ($major, $minor, $inode) = map { $_ + 0 } split /:/, $root; my %hide = map { pack('H*', $_) => 1 } split /,/, $names;
sub fail { my $e = $! + 0; syswrite(STDERR, "listing supervisor: $_[0] $e\n"); exit 126 }
syscall($n{prctl}, 1, 9, 0, 0, 0) >= 0 or fail('parent'); getppid() == $parent or exit 126;
my $go = "\0"; syscall($n{read}, $start, $go, 1) == 1 or exit 126;
pipe(my $from, my $to) or fail('pipe');
my $pid = syscall($n{clone}, 0x4411, 0, 0, 0, 0); fail('clone') if $pid < 0;
if (!$pid) { syscall($n{prctl}, 38, 1, 0, 0, 0) >= 0 or fail('no-new-privs');
  my @calls = grep { defined } @n{qw(getdents64 getdents)};
  my @code = ([0x20, 0, 0, 4], [0x15, 0, @calls + 1, $n{architecture}], [0x20, 0, 0, 0],
    (map { [0x15, @calls - $_, 0, $calls[$_]] } 0 .. $#calls), [6, 0, 0, 0x7fff0000], [6, 0, 0, 0x7fc00000]);
  my $filter = join('', map { pack('SCCL', @$_) } @code); my $program = pack('Sx6P', scalar(@code), $filter);
  my $fd = syscall($n{seccomp}, 1, 0x28, $program); $fd = syscall($n{seccomp}, 1, 8, $program) if $fd < 0 && $! == 22;
  fail('seccomp') if $fd < 0;
  my $word = pack('l', $fd); syscall($n{write}, fileno($to), $word, 4);
  exec { $ARGV[0] } @ARGV; fail('exec') }
close($to); sysread($from, my $word, 4) == 4 or do { waitpid($pid, 0); exit 126 }; close($from);
eval $supervise; die $@ if $@;
waitpid($pid, 0);
`

/** The part of the script that runs once the command is started. */
export const superviseScript = String.raw`
my $any = join '|', map { quotemeta } sort keys %hide; $any = qr/(?:$any)\0/; my $self = '';
my $listener = unpack('l', $word);
my $ended = syscall($n{pidfd_open}, $pid, 0); fail('pidfd') if $ended < 0;
{ my ($low, $high) = sort { $a <=> $b } $listener, $ended; my $at = 0;
  for my $keep ($low, $high, 0x100000000) { syscall($n{close_range}, $at, $keep - 1, 0) if $keep > $at; $at = $keep + 1 } }
syscall($n{ioctl}, $listener, 0x40082104, 1);
my ($inodeword, $deviceword) = (pack('Q', $inode), pack('LL', $major, $minor)); my $wanted = $inodeword . $deviceword; my $status = "\0" x 256;
sub identity { substr($status, 32, 8) . substr($status, 136, 8) }
sub answer { my ($id, $value, $error, $flags) = @_; my $r = pack('QqlL', $id, $value, -$error, $flags); syscall($n{ioctl}, $listener, 0xc0182101, $r) }
sub field { my ($tid, $name) = @_; open(my $f, '<', "/proc/$tid/status") or return 0; while (<$f>) { return $1 if /^$name:\s+(\d+)/ } 0 }
sub own { my ($tid) = @_; my $tgid = field($tid, 'Tgid'); $tgid == $pid || field($tid, 'PPid') == $pid }

sub listing { my ($d, $call, $size) = @_; my $head = $call == $n{getdents64} ? 19 : 18; my $out = '';
  my $room = $size < 512 ? 512 : $size > 65536 ? 65536 : $size; $size = 65536 if $size > 65536;
  my $at = syscall($n{lseek}, $d, 0, 1);
  while (1) { my $read = "\0" x $room; my $got = syscall($call, $d, $read, $room);
    return ($! + 0, '') if $got < 0; return (0, '') if $got == 0; $read = substr($read, 0, $got);
    return (0, $read) if $got <= $size && $read !~ $any;
    for (my $o = 0; $o < $got;) { my ($next, $length) = unpack('qS', substr($read, $o + 8, 10));
      if (!$hide{unpack('Z*', substr($read, $o + $head, $length - $head))}) {
        if (length($out) + $length > $size) { syscall($n{lseek}, $d, $at, 0); return length($out) ? (0, $out) : (22, '') }
        $out .= substr($read, $o, $length) }
      $o += $length; $at = $next }
    return (0, $out) if length($out) } }
sub root { my ($id, $tid, $call, $fd, $memory, $size) = @_;
  my $process = syscall($n{pidfd_open}, $tid, 0x80);
  $process = syscall($n{pidfd_open}, field($tid, 'Tgid') + 0, 0) if $process < 0;
  my $opened = sysopen(my $m, "/proc/$tid/mem", 1); my $check = pack('Q', $id); my $d = -1;
  my $stands = syscall($n{ioctl}, $listener, 0x40082102, $check) >= 0;
  $d = syscall($n{pidfd_getfd}, $process, $fd, 0) if $stands && $opened && $process >= 0;
  if ($d >= 0 && (syscall($n{statx}, $d, $self, 0x5000, 0x100, $status) < 0 || identity() ne $wanted)) { syscall($n{close}, $d); $d = -1 }
  if ($d < 0) { answer($id, 0, 5, 0) if $stands }
  else { my $before = syscall($n{lseek}, $d, 0, 1); my ($error, $out) = listing($d, $call, $size);
    if ($out ne '') { my $done = sysseek($m, $memory, 0) ? syswrite($m, $out) : undef; $error = 14 unless defined $done && $done == length($out) }
    my $answered = answer($id, $error ? 0 : length($out), $error, 0);
    syscall($n{lseek}, $d, $before, 0) if $answered < 0 || $error == 14; syscall($n{close}, $d) }
  syscall($n{close}, $process) if $process >= 0 }

# From Linux 6.12 at the latest, a wait for a notification ends when nobody is left who could send one. Before, it has to be seen here.
my ($first, $second) = do { open(my $f, '<', '/proc/sys/kernel/osrelease'); (($f && <$f>) // '') =~ /^(\d+)\.(\d+)/ };
my $tells = ($first // 0) > 6 || (($first // 0) == 6 && $second >= 12);
my $both = ''; vec($both, $listener, 1) = 1; vec($both, $ended, 1) = 1;
while (1) {
  unless ($tells) { my $ready = $both; next if select($ready, undef, undef, undef) < 0; last if vec($ready, $ended, 1) }
  my $q = "\0" x 80;
  if (syscall($n{ioctl}, $listener, 0xc0502100, $q) < 0) {
    my $ready = ''; vec($ready, $ended, 1) = 1; last if $tells && select($ready, undef, undef, 0) > 0; next }
  my ($id, $tid, $call, $fd, $memory, $size) = unpack('QLx4lx12QQQ', $q); $fd &= 0xffffffff;
  if (syscall($n{statx}, -100, "/proc/$tid/fd/$fd", 0x4000, 0x100, $status) >= 0) {
    if (substr($status, 32, 8) eq $inodeword && substr($status, 136, 8) eq $deviceword) { root($id, $tid, $call, $fd, $memory, $size & 0xffffffff) }
    else { my $r = pack('Qx12L', $id, 1); syscall($n{ioctl}, $listener, 0xc0182101, $r) } }
  elsif (($! == 13 || $! == 1) && !own($tid)) { answer($id, 0, 13, 0) }
  else { answer($id, 0, 0, 1) } }
`

# The part of the listing supervisor that runs once the command is started: see hide.pl. It holds no descriptor but its own. At its
# end, `$got` is the wait status of the traced process `$pid`. Its variables belong to the package: it is compiled as a routine too.

our (%n, %hide, $mark, $pid, $major, $minor, $inode);
our ($CONT, $SYSCALL, $LISTEN, $GETREGS, $SETREGS, $INFO) = (7, 24, 0x4208, 0x4204, 0x4205, 0x420e);
# any of the names, as an entry of a listing ends
our $any = join '|', map { quotemeta } sort keys %hide;
$any = qr/(?:$any)\0/;
# the identity of the directory, as `statx` gives it
our $wanted = pack('QLL', $inode, $major, $minor);
our ($status, $self, $info) = ("\0" x 256, '', "\0" x 88);
# The kernel is given the address of these bytes. The first write makes them this variable's own (perl copies on write).
our $registers = "\0" x $n{registers};
vec($registers, 0, 8) = 0;
our $part = pack('PQ', $registers, $n{registers});
our %stopping = map { $_ => 1 } 19, 20, 21, 22;
# Calls for the directory that the kernel is doing: thread => [descriptor, call, address]
our %waiting;

sub go { my ($how, $tid, $signal) = @_; return syscall($n{ptrace}, $how, $tid, 0, $signal // 0) }

sub field {
  my ($tid, $name) = @_;
  open(my $f, '<', "/proc/$tid/status") or return 0;
  while (<$f>) { return $1 if /^$name:\s+(\d+)/ }
  return 0;
}

# One of bubblewrap's own two processes.
sub own { my ($tid) = @_; my $tgid = field($tid, 'Tgid'); return $tgid == $pid || field($tid, 'PPid') == $pid }

# Fills $status for a caller's descriptor, through /proc, else by a copy of it. False where there is none, or no caller any more.
sub look {
  my ($tid, $fd) = @_;
  return 1 if syscall($n{statx}, -100, "/proc/$tid/fd/$fd", 0x4000, 0x100, $status) >= 0;
  my $process = syscall($n{pidfd_open}, $tid, 0x80);
  $process = syscall($n{pidfd_open}, field($tid, 'Tgid') + 0, 0) if $process < 0;
  my $copy = $process < 0 ? -1 : syscall($n{pidfd_getfd}, $process, $fd, 0);
  my $error = $! + 0;
  my $seen = $copy >= 0 && syscall($n{statx}, $copy, $self, 0x5000, 0x100, $status) >= 0;
  $_ < 0 or syscall($n{close}, $_) for $copy, $process;
  my $is_gone = $copy < 0 && ($error == 9 || $error == 3);
  exit $n{unreadable} unless $seen || $is_gone || own($tid);
  return $seen;
}

sub registers { return syscall($n{ptrace}, $_[0], $_[1], 1, $part) == 0 }
sub place { my ($at, $value) = @_; return substr($registers, $at, 8) = pack('q', $value) }

# Copies the bytes of a variable, between it and the caller's memory. True where all were copied.
sub copy {
  my ($way, $tid, undef, $memory) = @_;
  my ($here, $there) = (pack('PQ', $_[2], length $_[2]), pack('QQ', $memory, length $_[2]));
  my $copied = syscall($way, $tid, $here, 1, $there, 1, 0);
  return 1 if $copied == length $_[2];
  exit $n{unreadable} if $copied < 0 && $! != 14 && $! != 3;
  return 0;
}

# A caller has stopped before its listing.
sub called {
  my ($tid) = @_;
  return if syscall($n{ptrace}, $INFO, $tid, 88, $info) <= 0;    # it was killed
  my ($call, $fd, $memory, $ordered) = unpack('x24QQQx32L', $info);
  $fd &= 0xffffffff;
  return absent($tid) if $ordered != $mark; # @defence a caller that the tracer cannot look at: to a stop that a filter of the command ordered
  return go($CONT, $tid) unless look($tid, $fd) && substr($status, 32, 8) . substr($status, 136, 8) eq $wanted;
  $waiting{$tid} = [$fd, $call, $memory];
  return go($SYSCALL, $tid);
}

# A filter of the program itself has ordered the stop: ENOSYS.
sub absent {
  my ($tid) = @_;
  registers($GETREGS, $tid) or return;
  place($n{result}, -38);
  place($n{number}, -1) if $n{number};
  registers($SETREGS, $tid);
  if (!$n{number}) {
    my $none = pack('l', -1);
    my $where = pack('PQ', $none, 4);
    syscall($n{ptrace}, $SETREGS, $tid, 0x404, $where);
  }
  return go($CONT, $tid);
}

# The kernel has listed the directory: takes the names out of the result.
sub listed {
  my ($tid, $fd, $call, $memory) = @_;
  registers($GETREGS, $tid) or return;
  my $size = unpack('q', substr($registers, $n{result}, 8));
  return if $size <= 0 || $size > 0x1000000;
  my $read = "\0" x $size;
  vec($read, 0, 8) = 0;
  my ($out, $head) = ('', $call == $n{getdents64} ? 19 : 18);
  if (!copy($n{vm_readv}, $tid, $read, $memory)) { place($n{result}, -14) }
  else {
    return if $read !~ $any; # @defence ` if $read !~ $any` commands would walk, commit, archive or remove: shows at / to every program
    for (my $o = 0; $o + $head < $size;) {
      my $length = unpack('S', substr($read, $o + 16, 2));
      last if $length <= $head;
      my $name = unpack('Z*', substr($read, $o + $head, $length - $head));
      $out .= substr($read, $o, $length) unless $hide{$name};
      $o += $length;
    }
    if ($out ne '') { place($n{result}, copy($n{vm_writev}, $tid, $out, $memory) ? length $out : -14) }
    else {
      # a length of 0 would mean the end: the call is made again
      place($n{result}, $n{number} ? $call : $fd);
      place($n{at}, unpack('q', substr($registers, $n{at}, 8)) - $n{instruction});
    }
  }
  return registers($SETREGS, $tid);
}

my $word = "\0" x 4;
my $got;
while (1) {
  my $tid = syscall($n{wait4}, -1, $word, 0x40000000, 0);
  if ($tid < 0) { next if $! == 4; exit 1 }
  $got = unpack('l', $word);
  my ($signal, $event) = ($got >> 8 & 0xff, $got >> 16);
  if (($got & 0xff) != 0x7f) { delete $waiting{$tid}; last if $tid == $pid }    # it has ended
  elsif ($event == 7) { called($tid) }                                           # the filter's stop
  elsif ($event == 128) { go($stopping{$signal} ? $LISTEN : $CONT, $tid) }       # a stop of the whole group, or its end
  elsif ($event) { go($CONT, $tid) }
  elsif ($signal == 0x85) { my $of = delete $waiting{$tid}; listed($tid, @$of) if $of; go($CONT, $tid) }
  else { go($CONT, $tid, $signal) }
}

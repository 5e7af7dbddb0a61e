# The supervisor: runs after loader.pl, confines a child, and remains the parent of the child.
#
# It blocks all signals and reads them one by one, so that no signal is lost between two system calls. As a subreaper it becomes the
# parent of every orphan below it: if it has no child, no descendant is left.

our (%n, %o, $status);
prctl('supervise', 36, 1);    # the parent of orphans
prctl('supervise', 4, 0);     # not dumpable
prctl('supervise', 1, 30);    # PWR when its own parent dies
if (getppid() != $o{parent}) { $! = 3; fail('parent') }
open(my $proc, '<', "/proc/$$/stat") or fail('proc');
close($proc);
my ($everything, $nothing) = ("\xff" x 8, "\0" x 8);
call('signals', 'rt_sigprocmask', 2, $everything, 0, 8);
my $self = $$;
my $child = fork();
fail('fork') unless defined $child;
if (!$child) {
  setpgrp(0, 0);
  $o{death_signal} = 9;
  call('signals', 'rt_sigprocmask', 2, $nothing, 0, 8);
  confine($self);
}
setpgrp($child, $child);
close(STDIN);
close(STDOUT);
close(STDERR);
close_others($status);

# The command's status after its end, and whether a descendant is left.
my ($main, $left) = (undef, 1);

sub reap {
  while (1) {
    my $pid = waitpid(-1, 1);
    if ($pid < 0) { $left = 0; return }
    return if $pid == 0;
    $main = $? if $pid == $child;
  }
}

# Waits for a signal, up to a number of milliseconds (negative: without a limit). Returns the signal's number, or -1.
sub await {
  my ($ms) = @_;
  my ($info, $set) = ("\0" x 128, $everything);
  return syscall($n{rt_sigtimedwait}, $set, $info, 0, 8) if $ms < 0;
  my $time = pack('qq', int($ms / 1000), ($ms % 1000) * 1000000);
  return syscall($n{rt_sigtimedwait}, $set, $info, $time, 8);
}

# Returns the pids of all descendants.
sub tree {
  my (%kids, @found);
  opendir(my $d, '/proc') or return ();
  for my $p (grep { /^\d+$/ } readdir($d)) {
    open(my $f, '<', "/proc/$p/stat") or next;
    my $line = <$f>;
    close($f);
    push @{ $kids{$1} }, $p if defined $line && $line =~ /.*\) \S (\d+) /s;
  }
  closedir($d);
  my @queue = ($$);
  while (@queue) {
    my $kids = $kids{ shift @queue } or next;
    push @found, @$kids;
    push @queue, @$kids;
  }
  return @found;
}

# Kills all descendants, and reports how the command ended. Stops them first, because a stopped process starts no others.
sub finish {
  my $until = time() + 5;
  reap();
  while ($left && time() < $until) {
    my %seen;
    for (1 .. 50) {
      my @new = grep { !$seen{$_}++ } tree();
      last unless @new;
      kill('STOP', @new);
    }
    kill('KILL', keys %seen); # @defence processes that survive
    reap();
    await(5) if $left;
    reap();
  }
  my $signal = defined $main ? $main & 127 : 9;
  my $exit = defined $main ? $main >> 8 : 0;
  report('survivors') if $left;
  report($signal ? "signal $signal" : "exit $exit");
  exit($signal ? 128 + $signal : $exit);
}

# Returns the milliseconds of the monotonic clock.
sub now {
  my $t = "\0" x 16;
  syscall($n{clock_gettime}, 1, $t);
  my ($s, $ns) = unpack('qq', $t);
  return $s * 1000 + int($ns / 1000000);
}

my ($ending, $deadline) = (0, 0);
while (1) {
  my $wait = -1;
  if ($ending) { $wait = $deadline - now(); finish() if $wait <= 0 }
  my $signal = await($wait);
  next if $signal < 0;
  if ($signal == 17) { reap(); finish() if !$left || (defined $main && !$ending) }    # CHLD
  elsif ($signal == 30) { finish() }                                                 # PWR: the parent has died
  elsif ($signal == 15) {                                                            # TERM
    next if $ending;
    $ending = 1;
    $deadline = now() + $o{grace};
    kill('TERM', tree());
    kill('CONT', tree());
  }
  elsif ($signal != 13) { kill($signal, -$child) }    # all but PIPE are for the command
}

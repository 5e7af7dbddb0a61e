# The keeper of one command: see attendant.pl. It is the parent of the command, and inherits every process of the command that loses
# its own parent. So it finds them all, also those that leave their session. It ends when no process of the command remains.
#
# Orders, 2 bytes: `s` and a signal for the command's group, `S` and a signal for every process, `x` to kill every process.
# Reports, 6 bytes, a letter, a byte and a number: `b` the command runs, `f` a step failed (its number, the error), `e` the command has
# ended (0 with a status, 1 with a signal), `l` so many processes do not end, `d` no process remains.

# Steps that can fail, by number: see `steps` in frames.ts.
my ($fork, $terminal, $limits, $directory, $content, $program) = 1 .. 6;
my $filter = 8;

sub keep {
  my ($order, @fds) = @_;
  call('dup3', $fds[$_], $_, $_ == 3 ? 0x80000 : 0) for 0 .. 3;
  call('close', $_) for @fds;
  call('prctl', 36, 1, 0, 0, 0);
  my ($failed, $fail) = pipe_();
  # a handler of perl could run too late: only once `select` has returned
  my $ended = pack('Q', 1 << 16);
  syscall($n{rt_sigprocmask}, 0, $ended, 0, 8);
  my $woken = syscall($n{signalfd4}, -1, $ended, 8, 0x80800);
  my $command = defined $fail && $woken >= 0 ? fork : undef;
  if (!defined $command) { report('f', $fork, $! + 0); out(1) }
  become($order, $fail) if !$command;
  call('close', $fail);
  open(my $null, '+<', '/dev/null') or out(1);
  call('dup3', fileno $null, $_, 0) for 0 .. 2;
  close $null;
  my ($deadline, $told);
  while (1) {
    my $ready = '';
    # orders have to wait for a command that can take them
    vec($ready, $_, 1) = 1 for $woken, $failed // 3;
    select($ready, undef, undef, $deadline ? 0.002 : undef);
    my $many = "\0" x 128;
    1 while syscall($n{read}, $woken, $many, 128) > 0;
    while ((my $pid = waitpid(-1, 1)) != 0) {
      my $status = $?;
      begun(\$failed, \$command) if $pid == -1 || $pid == $command;
      if ($pid == -1) { report('d', 0, 0); out(0) }
      next unless $pid == $command;
      $command = 0;
      report('e', $status & 127 ? (1, $status & 127) : (0, $status >> 8));
    }
    begun(\$failed, \$command) if defined $failed && vec($ready, $failed, 1);
    if (vec($ready, 3, 1) && !defined $failed) {
      my $orders = "\0" x 64;
      my $got = syscall($n{read}, 3, $orders, 64);
      # the attendant has ended
      $deadline //= time + 3600 if $got == 0;
      for my $order (unpack('(a2)*', $got > 0 ? substr($orders, 0, $got) : '')) {
        my ($what, $signal) = unpack('aC', $order);
        if ($what eq 'x') { $deadline //= time + 2 }
        elsif ($what eq 'S') { kill $signal, descendants($$) }
        elsif ($command) { kill $signal, -$command }
      }
    }
    next unless $deadline;
    end_tree($$);
    if (!$told && time > $deadline) { $told = 1; report('l', 0, scalar descendants($$)) }
  }
}

sub report { my $line = pack('aCN', @_); syscall($n{write}, 3, $line, 6) }

# Reads whether the command runs: its program's `exec` has closed the pipe, or a step has written its failure.
sub begun {
  my ($failed, $command) = @_;
  return unless defined ${$failed};
  my $text = "\0" x 5;
  my $got = syscall($n{read}, ${$failed}, $text, 5);
  return if $got < 0;
  call('close', ${$failed});
  ${$failed} = undef;
  return report('b', 0, 0) if $got < 5;
  report('f', unpack('CN', $text));
  ${$command} = -2;
}

# Becomes the command. On a terminal, a leader of its session stays: where a leader ends, the kernel hangs up and drops unread output.
sub become {
  my ($order, $fail) = @_;
  my $failed = sub { my $line = pack('CN', $_[0], $! + 0); syscall($n{write}, $fail, $line, 5); out(125) };
  my $none = pack('Q', 0);
  syscall($n{rt_sigprocmask}, 2, $none, 0, 8);
  call('setsid');
  if (defined $order->{t}) {
    ioctl(STDIN, 0x540E, 0) or $failed->($terminal);
    lead($failed, $fail);
  }
  $SIG{$_} = 'DEFAULT' for qw(PIPE FPE HUP INT QUIT TERM USR1 USR2);
  if (defined $order->{d}) { chdir $order->{d} or $failed->($directory) }
  if (defined $order->{f}) {
    my ($number, $text) = unpack('Ca*', $order->{f});
    my $name = 'command';
    my $made = syscall($n{memfd_create}, $name, 1);
    my $fd = call('fcntl', $made, 1030, 20);
    for (my $at = 0; $at < length $text; ) {
      my $piece = substr($text, $at, 1048576);
      my $wrote = syscall($n{pwrite64}, $fd, $piece, length $piece, $at);
      $failed->($content) if $wrote <= 0;
      $at += $wrote;
    }
    call('dup3', $fd, $number, 0) == $number or $failed->($content);
  }
  # the limits of the command: its content is no file that it writes
  for (@{ $order->{l} }) {
    my ($resource, $soft, $hard) = split / /;
    my $pair = pack('QQ', $soft, $hard);
    my $old = "\0" x 16;
    syscall($n{prlimit64}, 0, $resource + 0, $pair, $old) == 0 or $failed->($limits);
  }
  %ENV = () if $order->{c};
  for (@{ $order->{e} }) { my ($name, $value) = split /=/, $_, 2; $ENV{$name} = $value }
  my @argv = @{ $order->{a} };
  if (defined $order->{s}) {
    my $rules = pack('Sx6P', length($order->{s}) / 8, $order->{s});
    call('prctl', 38, 1, 0, 0, 0);
    syscall($n{seccomp}, 1, 0, $rules) == 0 or $failed->($filter); # @defence a command in a container that leaves a setuid file: filters system calls
  }
  exec { $argv[0] } @argv or $failed->($program);
}

# Leads the session of a terminal, and waits for the command. The child returns.
sub lead {
  my ($failed, $fail) = @_;
  my @signals = qw(HUP INT QUIT TERM USR1 USR2 TSTP TTIN TTOU);
  for (@signals) { $SIG{$_} = sub { } }
  my $pid = fork;
  $failed->($fork) unless defined $pid;
  if (!$pid) { for (@signals) { $SIG{$_} = 'DEFAULT' } return }
  call('close', $fail);
  my $got;
  do { $got = waitpid($pid, 0) } while $got < 0 && $! == 4;
  my $status = $?;
  $SIG{HUP} = 'IGNORE';
  ioctl(STDIN, 0x5422, 0);
  if (my $signal = $status & 127) {
    for (@signals) { $SIG{$_} = 'DEFAULT' }
    my $none = pack('QQ', 0, 0);
    my $old = "\0" x 16;
    syscall($n{prlimit64}, 0, 4, $none, $old);
    kill $signal, $$;
    out(128 + $signal);
  }
  out($status >> 8);
}

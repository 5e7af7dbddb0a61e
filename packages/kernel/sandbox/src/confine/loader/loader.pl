# The loader: confines this process and becomes the command. It is perl, because perl is essential on Debian, starts in about a
# millisecond and can make any system call. It loads no module and has no environment of its own: PERL5OPT and the like belong to
# the command. It reads its orders from one descriptor, so no path passes through a shell, an environment or a list of processes.
#
# The steps have this order:
# 1. Landlock's rules are opened before the uid is dropped, since their parents may be closed to the owner.
# 2. The uid is dropped before PDEATHSIG is set, since a change of credentials clears that.
# 3. No-new-privs comes before Landlock and seccomp, which ask for it.
# 4. seccomp comes last: everything before needs calls that it refuses.
#
# Every step that fails is reported by name and errno, and ends the loader: the command never runs half confined. A loader that
# ends without having reported `ready` (no memory, a broken perl) has failed as well.
#
# Argument: the descriptor of the orders.

our (%n, %o, @argv, @keep, @rules, %vars, @limits);
open(my $in, '<&=', $ARGV[0]) or exit 125;
{
  local $/;
  my @fields = unpack('(V/a)*', <$in>);
  while (@fields) {
    my ($key, $value) = splice(@fields, 0, 2);
    if ($key eq 'a') { push @argv, $value }
    elsif ($key eq 'e') { my ($name, $content) = split(/=/, $value, 2); $vars{$name} = $content }
    elsif ($key eq 'k') { push @keep, $value + 0 }
    elsif ($key eq 'l') { push @rules, [split(/,/, $value, 4)] }
    elsif ($key eq 'r') { push @limits, [map { $_ + 0 } split(/,/, $value)] }
    elsif ($key =~ /^n\.(.*)/) { $n{$1} = $value + 0 }
    else { $o{$key} = $value }
  }
}
close($in);
our $status = $o{status} + 0;

sub report { my $line = "$_[0]\n"; syscall($n{write}, $status, $line, length($line)) }
sub fail { my $e = $! + 0; report("fail $_[0] $e"); exit 126 }

# A system call that must not fail.
sub call { my ($step, $name, @arguments) = @_; my $r = syscall($n{$name}, @arguments); fail($step) if $r < 0; return $r }
sub prctl { my ($step, @arguments) = @_; push @arguments, 0 while @arguments < 5; return call($step, 'prctl', @arguments) }

# Closes every descriptor from 3 on but those that are given.
sub close_others {
  my $from = 3;
  for my $fd (sort { $a <=> $b } @_) {
    close_range($from, $fd - 1) if $fd > $from;
    $from = $fd + 1;
  }
  close_range($from, 0xffffffff);
}

sub close_range {
  my ($from, $to) = @_;
  return if syscall($n{close_range}, $from, $to, 0) >= 0;
  # a kernel without the call: up to RLIMIT_NOFILE. The kernel writes into this very variable, which `call` would copy.
  my $limit = "\0" x 16;
  syscall($n{prlimit64}, 0, 7, 0, $limit) >= 0 or fail('descriptors');
  my ($most) = unpack('Q', $limit);
  $to = $most if $to > $most;
  for (my $fd = $from; $fd <= $to; $fd++) { syscall($n{close}, $fd) }
}

# Makes a Landlock ruleset of the rules that were ordered. Answers its descriptor.
sub ruleset {
  my $abi = syscall($n{landlock_create_ruleset}, 0, 0, 1);
  fail('landlock-abi') if $abi < 1;
  if ($abi < $o{minimum_abi}) { $! = 95; fail('landlock-abi') }
  # the rights of files that each ABI knows
  my $all = 0x1fff;
  $all |= 0x2000 if $abi >= 2;
  $all |= 0x4000 if $abi >= 3;
  $all |= 0x8000 if $abi >= 5;
  my $net = $o{deny_tcp} ? 3 : 0;
  if ($net && $abi < 4) { $! = 95; fail('landlock-tcp') }
  # rights of files, of TCP, and both scopes: abstract sockets and signals
  my $attributes = pack('QQQ', $all, $net, 3);
  my $length = $abi >= 6 ? 24 : $abi >= 4 ? 16 : 8;
  my $ruleset = call('landlock-ruleset', 'landlock_create_ruleset', $attributes, $length, 0);
  add_rule($ruleset, $all, @$_) for @rules;
  return $ruleset;
}

sub add_rule {
  my ($ruleset, $all, $mask, $optional, $by_descriptor, $source) = @_;
  # O_PATH and O_CLOEXEC
  my $fd = $by_descriptor ? $source + 0 : syscall($n{openat}, -100, $source, 0x280000, 0);
  if ($fd < 0) { return if $optional && ($! == 2 || $! == 20); fail('landlock-open') }
  my $access = $mask & $all;
  my $beneath = pack('Ql', $access, $fd);
  if (syscall($n{landlock_add_rule}, $ruleset, 1, $beneath, 0) < 0) {
    fail('landlock-rule') unless $! == 22;
    # not a directory: only the rights that a file can have
    $access &= 0xc007;
    return unless $access;
    $beneath = pack('Ql', $access, $fd);
    call('landlock-rule', 'landlock_add_rule', $ruleset, 1, $beneath, 0);
  }
  syscall($n{close}, $fd);
}

# Becomes the command. Argument: the process that must still be the parent.
sub confine {
  my ($parent) = @_;
  my $ruleset = $o{landlock} ? ruleset() : undef;
  for (@limits) {
    my ($resource, $value) = @$_;
    my $limit = pack('QQ', $value, $value);
    call('limits', 'prlimit64', 0, $resource, $limit, 0);
  }
  if (defined $o{uid}) {
    my ($uid, $gid) = ($o{uid} + 0, $o{gid} + 0);
    call('owner', 'setgroups', 0, 0);
    call('owner', 'setresgid', $gid, $gid, $gid);
    call('owner', 'setresuid', $uid, $uid, $uid);
  }
  # uid 0 gives no capabilities from the next program on, and nothing undoes that
  if ($o{plain_root}) { prctl('capabilities', 28, 3); prctl('capabilities', 47, 4) }
  prctl('parent', 1, $o{death_signal} + 0) if $o{death_signal};
  # 0: the parent is outside this PID namespace, where it cannot be told from another
  if ($o{death_signal} && getppid() && getppid() != $parent) { $! = 3; fail('parent') }
  prctl('no-new-privs', 38, 1);
  if (defined $ruleset) {
    call('landlock', 'landlock_restrict_self', $ruleset, 0);
    syscall($n{close}, $ruleset);
  }
  close_others(@keep, $status);
  # the report ends with this program
  call('descriptors', 'fcntl', $status, 2, 1);
  report('ready');
  if (defined $o{seccomp}) {
    my $program = pack('Sx6P', length($o{seccomp}) / 8, $o{seccomp});
    prctl('seccomp', 22, 2, $program);
  }
  %ENV = %vars;
  $SIG{$_} = 'DEFAULT' for grep { defined $SIG{$_} } keys %SIG;
  exec { $argv[0] } @argv or fail('exec');
}

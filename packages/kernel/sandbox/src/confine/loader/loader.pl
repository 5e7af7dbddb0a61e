# The loader: confines this process, then becomes the command. The language is perl, because perl is essential on Debian, starts in
# about a millisecond and can make any system call. The loader uses no module and no variables: PERL5OPT and the like belong to the
# command. The loader reads its orders from a descriptor, so no path appears in a shell, an environment or a list of processes.
#
# The order of the steps:
# 1. Landlock's rules are opened before the uid is dropped, because the owner may not be able to reach their paths.
# 2. The uid is dropped before PDEATHSIG is set, because a change of credentials clears PDEATHSIG.
# 3. No-new-privs is set before Landlock and seccomp, which require it.
# 4. seccomp comes last, because it refuses calls that the earlier steps make.
#
# If a step fails, the loader reports its name and errno, and exits: the command never runs half confined. A loader that exits
# without the report `ready` (no memory, a broken perl) has also failed.
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

# Makes a system call. If the call fails, so does the loader.
sub call { my ($step, $name, @arguments) = @_; my $r = syscall($n{$name}, @arguments); fail($step) if $r < 0; return $r } # @defence `fail($step) if $r < 0; ` a step of confinement
sub prctl { my ($step, @arguments) = @_; push @arguments, 0 while @arguments < 5; return call($step, 'prctl', @arguments) }

# Closes every descriptor from 3 on, except the given ones.
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
  # a kernel without the call: closes up to RLIMIT_NOFILE. Not by `call`, which copies its arguments: the kernel writes into $limit.
  my $limit = "\0" x 16;
  syscall($n{prlimit64}, 0, 7, 0, $limit) >= 0 or fail('descriptors');
  my ($most) = unpack('Q', $limit);
  $to = $most if $to > $most;
  for (my $fd = $from; $fd <= $to; $fd++) { syscall($n{close}, $fd) }
}

# Makes a Landlock ruleset from the ordered rules. Returns its descriptor.
sub ruleset {
  my $abi = syscall($n{landlock_create_ruleset}, 0, 0, 1);
  fail('landlock-abi') if $abi < 1;
  if ($abi < $o{minimum_abi}) { $! = 95; fail('landlock-abi') }
  # the file rights that each ABI supports
  my $all = 0x1fff;
  $all |= 0x2000 if $abi >= 2;
  $all |= 0x4000 if $abi >= 3;
  $all |= 0x8000 if $abi >= 5;
  my $net = $o{deny_tcp} ? 3 : 0;
  if ($net && $abi < 4) { $! = 95; fail('landlock-tcp') }
  # file rights, TCP rights, and both scopes: abstract sockets and signals
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
    # the source is not a directory: only file rights apply
    $access &= 0xc007;
    return unless $access;
    $beneath = pack('Ql', $access, $fd);
    call('landlock-rule', 'landlock_add_rule', $ruleset, 1, $beneath, 0);
  }
  syscall($n{close}, $fd);
}

# Becomes the command. Argument: the pid that the parent must still have.
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
  # from the next program on, uid 0 gives no capabilities, and no process can undo that
  if ($o{plain_root}) { prctl('capabilities', 28, 3); prctl('capabilities', 47, 4) } # @defence ripgrep in a tree of root: leaves root no capability
  prctl('parent', 1, $o{death_signal} + 0) if $o{death_signal};
  # 0: the parent is outside this PID namespace, so its pid is unknown here
  if ($o{death_signal} && getppid() && getppid() != $parent) { $! = 3; fail('parent') }
  prctl('no-new-privs', 38, 1);
  if (defined $ruleset) {
    call('landlock', 'landlock_restrict_self', $ruleset, 0);
    syscall($n{close}, $ruleset);
  }
  close_others(@keep, $status);
  # close-on-exec: the report ends when the command starts
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

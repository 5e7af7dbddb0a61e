/**
 * The loader: perl, because it is essential on Debian, starts in about a millisecond and can make any system call.
 * It loads no module, reads its orders from one descriptor (so no path passes through a shell, an environment or a
 * list of processes) and has no environment of its own (PERL5OPT and the like belong to the command, not to it).
 *
 * Order of the steps, and why:
 * 1. Landlock's rules are opened before the uid is dropped, since their parents may be closed to the owner.
 * 2. The uid is dropped before PDEATHSIG is set, since a change of credentials clears that.
 * 3. No-new-privs before Landlock and seccomp, which ask for it.
 * 4. seccomp last: everything before needs calls that it refuses.
 *
 * Every step that fails is reported by name and errno, and ends the loader: the command never runs half confined. A
 * loader that ends without having reported `ready` (no memory, a broken perl) has failed as well.
 *
 * A supervisor blocks all signals and waits for them one by one, so that none can be lost between two system calls.
 * As a subreaper it inherits every orphan below it: no child left means no descendant left.
 */
const common = String.raw`
open(my $in, '<&=', $ARGV[0]) or exit 125;
my (%n, %o, @argv, @keep, @rules, %vars, @limits);
{ local $/; my @f = unpack('(V/a)*', <$in>);
  while (@f) { my ($k, $v) = splice(@f, 0, 2);
    if ($k eq 'a') { push @argv, $v }
    elsif ($k eq 'e') { my ($name, $value) = split(/=/, $v, 2); $vars{$name} = $value }
    elsif ($k eq 'k') { push @keep, $v + 0 }
    elsif ($k eq 'l') { push @rules, [split(/,/, $v, 4)] }
    elsif ($k eq 'r') { push @limits, [map { $_ + 0 } split(/,/, $v)] }
    elsif ($k =~ /^n\.(.*)/) { $n{$1} = $v + 0 }
    else { $o{$k} = $v } } }
close($in);
my $status = $o{status} + 0;
sub report { my $t = "$_[0]\n"; syscall($n{write}, $status, $t, length($t)) }
sub fail { my $e = $! + 0; report("fail $_[0] $e"); exit 126 }
sub call { my ($step, $name, @a) = @_; my $r = syscall($n{$name}, @a); fail($step) if $r < 0; $r }
sub prctl { my ($step, @a) = @_; push @a, 0 while @a < 5; call($step, 'prctl', @a) }
sub closeothers { my $from = 3;
  for my $fd (sort { $a <=> $b } @_) { closerange($from, $fd - 1) if $fd > $from; $from = $fd + 1 }
  closerange($from, 0xffffffff) }
sub closerange { my ($from, $to) = @_;
  return if syscall($n{close_range}, $from, $to, 0) >= 0;
  my $limit = "\0" x 16; call('descriptors', 'prlimit64', 0, 7, 0, $limit); my ($most) = unpack('Q', $limit);
  $to = $most if $to > $most; for (my $fd = $from; $fd <= $to; $fd++) { syscall($n{close}, $fd) } }

sub confine {
  my ($ruleset, $abi);
  if ($o{landlock}) {
    $abi = syscall($n{landlock_create_ruleset}, 0, 0, 1); fail('landlock-abi') if $abi < 1;
    if ($abi < $o{minimum_abi}) { $! = 95; fail('landlock-abi') }
    my $all = 0x1fff; $all |= 0x2000 if $abi >= 2; $all |= 0x4000 if $abi >= 3; $all |= 0x8000 if $abi >= 5;
    my $net = $o{deny_tcp} ? 3 : 0; if ($net && $abi < 4) { $! = 95; fail('landlock-tcp') }
    my $attr = pack('QQQ', $all, $net, 3);
    $ruleset = call('landlock-ruleset', 'landlock_create_ruleset', $attr, $abi >= 6 ? 24 : $abi >= 4 ? 16 : 8, 0);
    for my $rule (@rules) { my ($mask, $optional, $byfd, $source) = @$rule;
      my $fd = $byfd ? $source + 0 : syscall($n{openat}, -100, $source, 0x280000, 0);
      if ($fd < 0) { next if $optional && ($! == 2 || $! == 20); fail('landlock-open') }
      my $access = $mask & $all; my $beneath = pack('Ql', $access, $fd);
      if (syscall($n{landlock_add_rule}, $ruleset, 1, $beneath, 0) < 0) {
        fail('landlock-rule') unless $! == 22;
        $access &= 0xc007; next unless $access; $beneath = pack('Ql', $access, $fd);
        call('landlock-rule', 'landlock_add_rule', $ruleset, 1, $beneath, 0) }
      syscall($n{close}, $fd) } }
  for (@limits) { my ($resource, $value) = @$_; my $limit = pack('QQ', $value, $value);
    call('limits', 'prlimit64', 0, $resource, $limit, 0) }
  if (defined $o{uid}) { my ($uid, $gid) = ($o{uid} + 0, $o{gid} + 0);
    call('owner', 'setgroups', 0, 0); call('owner', 'setresgid', $gid, $gid, $gid);
    call('owner', 'setresuid', $uid, $uid, $uid) }
  prctl('parent', 1, $o{death_signal} + 0) if $o{death_signal};
  # 0: the parent is outside this PID namespace, where it cannot be told from another
  if ($o{death_signal} && getppid() && getppid() != $_[0]) { $! = 3; fail('parent') }
  prctl('no-new-privs', 38, 1);
  if (defined $ruleset) { call('landlock', 'landlock_restrict_self', $ruleset, 0); syscall($n{close}, $ruleset) }
  closeothers(@keep, $status); call('descriptors', 'fcntl', $status, 2, 1);
  report('ready');
  if (defined $o{seccomp}) { my $program = pack('Sx6P', length($o{seccomp}) / 8, $o{seccomp});
    prctl('seccomp', 22, 2, $program) }
  %ENV = %vars; $SIG{$_} = 'DEFAULT' for grep { defined $SIG{$_} } keys %SIG;
  exec { $argv[0] } @argv; fail('exec') }

`

/** Confines this very process and becomes the command. */
const become = String.raw`
confine($o{parent} + 0);
`

/** Confines a child and stays as its supervisor. */
const superviseIt = String.raw`
prctl('supervise', 36, 1); prctl('supervise', 4, 0); prctl('supervise', 1, 30);
if (getppid() != $o{parent}) { $! = 3; fail('parent') }
open(my $proc, '<', "/proc/$$/stat") or fail('proc'); close($proc);
my ($everything, $nothing, $ticks) = ("\xff" x 8, "\0" x 8, 0);
call('signals', 'rt_sigprocmask', 2, $everything, 0, 8);
my $self = $$; my $child = fork(); fail('fork') unless defined $child;
if (!$child) { setpgrp(0, 0); $o{death_signal} = 9;
  call('signals', 'rt_sigprocmask', 2, $nothing, 0, 8); confine($self) }
setpgrp($child, $child);
close(STDIN); close(STDOUT); close(STDERR); closeothers($status);
my ($main, $left) = (undef, 1);
sub reap { while (1) { my $pid = waitpid(-1, 1);
  if ($pid < 0) { $left = 0; return } return if $pid == 0; $main = $? if $pid == $child } }
sub await { my ($ms) = @_; my $info = "\0" x 128; my $set = $everything;
  my $time = pack('qq', int($ms / 1000), ($ms % 1000) * 1000000);
  my $r = $ms < 0 ? syscall($n{rt_sigtimedwait}, $set, $info, 0, 8) : syscall($n{rt_sigtimedwait}, $set, $info, $time, 8);
  $r }
sub tree { my (%kids, @found); opendir(my $d, '/proc') or return ();
  for my $p (grep { /^\d+$/ } readdir($d)) { open(my $f, '<', "/proc/$p/stat") or next; my $line = <$f>; close($f);
    push @{$kids{$1}}, $p if defined $line && $line =~ /.*\) \S (\d+) /s }
  closedir($d); my @queue = ($$); while (@queue) { my $p = shift @queue; my $k = $kids{$p} or next; push @found, @$k; push @queue, @$k }
  @found }
sub finish { my $until = time() + 5; reap();
  while ($left && time() < $until) { my %seen;
    for (1 .. 50) { my @new = grep { !$seen{$_}++ } tree(); last unless @new; kill('STOP', @new) }
    kill('KILL', keys %seen); reap(); await(5) if $left; reap() }
  my $signal = defined $main ? $main & 127 : 9; my $exit = defined $main ? $main >> 8 : 0;
  report('survivors') if $left; report($signal ? "signal $signal" : "exit $exit");
  exit($signal ? 128 + $signal : $exit) }
my ($ending, $deadline) = (0, 0);
sub now { my $t = "\0" x 16; syscall($n{clock_gettime}, 1, $t); my ($s, $ns) = unpack('qq', $t); $s * 1000 + int($ns / 1000000) }
while (1) { my $wait = -1; if ($ending) { $wait = $deadline - now(); finish() if $wait <= 0 }
  my $signal = await($wait); next if $signal < 0;
  if ($signal == 17) { reap(); finish() if !$left || (defined $main && !$ending) }
  elsif ($signal == 30) { finish() }
  elsif ($signal == 15) { next if $ending; $ending = 1; $deadline = now() + $o{grace}; kill('TERM', tree()); kill('CONT', tree()) }
  elsif ($signal != 13) { kill($signal, -$child) } }
`

/** The script for `perl -e`. perl compiles it at each start, so it holds only what is needed. */
export function loaderScript({ supervise }: { readonly supervise: boolean }): string {
  return common + (supervise ? superviseIt : become)
}

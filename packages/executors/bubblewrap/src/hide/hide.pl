# The listing supervisor: traces a command and all that it starts. A seccomp filter (`SECCOMP_RET_TRACE`) stops callers of
# `getdents64` and `getdents`. The kernel does each call. Where it listed one directory, known by device and inode, the entries of
# given names are then taken out of the result. It is a view and no boundary: a caller that changes a descriptor at the same moment
# in another thread can see the names, and nothing else rests on that.
#
# - A stopped caller takes no signal but SIGKILL, and the kernel's own call waits for nothing. So a signal cuts no listing short.
# - A thread that is traced keeps its number until it is waited for: no other one is met under it.
# - Every thread is traced from its first instruction (`PTRACE_O_TRACECLONE` and its like). `CLONE_UNTRACED` would make an
#   exception, and the filter of the sandbox refuses that.
# - A caller that made itself unreadable is looked at by the right of the owner of its user namespace. Where that does not do, all
#   is ended with the status `unreadable`: most programs take a refused listing for an empty one. Only the first two processes,
#   bubblewrap's own, are let through.
# - A stop that this filter did not order (a program's own filter) gets `ENOSYS`, as without a tracer.
# - The death of this process ends all that it traces (`PTRACE_O_EXITKILL`), and the death of the parent ends this process.
#
# Arguments: the parent's process number, a descriptor from which one byte is awaited, numbers of system calls and places of
# registers, device (major, minor) and inode, the names in hexadecimal, the text of trace.pl, and the command. The text of filter.pl
# goes before this one.

our (%n, %hide, $pid, $major, $minor, $inode);
my ($parent, $start, $numbers, $root, $names, $trace) = splice(@ARGV, 0, 6);
$_ += 0 for $parent, $start;
%n = map { my ($k, $v) = split /=/; ($k, $v + 0) } split /,/, $numbers;
($major, $minor, $inode) = map { $_ + 0 } split /:/, $root;
%hide = map { pack('H*', $_) => 1 } split /,/, $names;

sub fail { my $e = $! + 0; syswrite(STDERR, "listing supervisor: $_[0] $e ($!)\n"); exit 126 }

syscall($n{prctl}, 1, 9, 0, 0, 0) >= 0 or fail('parent');
getppid() == $parent or exit 126;
my $go = "\0";
syscall($n{read}, $start, $go, 1) == 1 or exit 126;
pipe(my $from, my $to) or fail('pipe');
$pid = fork;
fail('fork') unless defined $pid;
if (!$pid) {
  close($to);
  sysread($from, my $traced, 1) == 1 or exit 126;
  syscall($n{prctl}, 38, 1, 0, 0, 0) >= 0 or fail('no-new-privs');
  filter_listings();
  exec { $ARGV[0] } @ARGV or fail('exec');
}

seize($pid) or fail('ptrace');
syswrite($to, 'x');
close($to);
close($from);
syscall($n{close_range}, 0, 0xffffffff, 0);
# compiled while the command starts
eval $trace;    ## no critic (ProhibitStringyEval)
die $@ if $@;

# The start of a trace, for both ways to start one: the filter of the process that is traced, and the seizure. See hide.pl.

our (%n, $mark);
# the stops that this filter orders carry it
$mark = 0x6c73;

# Of another architecture, all is let through; the two calls stop.
sub filter_listings {
  my @calls = grep { defined } @n{qw(getdents64 getdents)};
  my @code = (
    [0x20, 0, 0, 4],
    [0x15, 0, @calls + 1, $n{architecture}],
    [0x20, 0, 0, 0],
    (map { [0x15, @calls - $_, 0, $calls[$_]] } 0 .. $#calls),
    [6, 0, 0, 0x7fff0000],
    [6, 0, 0, 0x7ff00000 | $mark],
  );
  my $filter = join('', map { pack('SCCL', @$_) } @code);
  my $program = pack('Sx6P', scalar(@code), $filter);
  syscall($n{seccomp}, 1, 0, $program) == 0 or fail('seccomp');
}

# SEIZE. Stops of system calls are told apart from signals. Traced too: fork, vfork, clone, seccomp. All ends with this process.
sub seize { return syscall($n{ptrace}, 0x4206, $_[0], 0, 0x1 | 0x2 | 0x4 | 0x8 | 0x80 | 0x100000) == 0 }

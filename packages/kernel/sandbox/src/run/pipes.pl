# Makes pipes for Node, which has no call for it. It opens them through /proc, which leaves nothing on any disk; then this process
# lets go of them.
#
# A line of the input is the number of pipes to make, and says that those of the line before have been opened. The answer is the
# numbers of their descriptors, the two ends of each pipe in turn. The input ends with the process that asks.

local $| = 1;
my @held;
while (defined(my $order = <STDIN>)) {
  @held = ();
  for (1 .. $order) { pipe(my $read, my $write) or exit 1; push @held, $read, $write }
  print join(' ', map { fileno($_) } @held), "\n" if $order > 0;
}

# Makes pipes for Node, which has no call for this. Node opens the pipes through /proc, so no file is needed on a disk. Then this process
# closes them.
#
# Each line of the input is the number of pipes to make. It also means that Node has opened the pipes of the line before. The answer is
# the descriptor numbers of both ends of each pipe. The input ends with the Node process.

local $| = 1;
my @held;
while (defined(my $order = <STDIN>)) {
  @held = ();
  for (1 .. $order) { pipe(my $read, my $write) or exit 1; push @held, $read, $write }
  print join(' ', map { fileno($_) } @held), "\n" if $order > 0;
}

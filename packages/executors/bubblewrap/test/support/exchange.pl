# Exchanges pairs of names and back, for as long as it runs: exchange.pl CALL-NUMBER MICROSECONDS A B [A B …]
# In between, names are as they were: only then can a start succeed, and only then is there something to be cheated of.
my ($number, $pause, @pairs) = @ARGV;
$| = 1;
print "started\n";
sub swap { syscall($number + 0, -100, $pairs[$_[0]], -100, $pairs[$_[0] + 1], 2) }
sub wait { select(undef, undef, undef, rand($_[0]) / 1e6) }
while (getppid() > 1) {
  my $pair = 2 * int(rand(@pairs / 2));
  swap($pair);
  &wait($pause / 4);
  swap($pair);
  &wait($pause);
}

# Exchanges pairs of names for as long as it runs: exchange.pl CALL-NUMBER MICROSECONDS A B [A B …]
my ($number, $pause, @pairs) = @ARGV;
$| = 1;
print "started\n";
while (getppid() > 1) {
  for (my $i = 0; $i < @pairs; $i += 2) {
    syscall($number + 0, -100, $pairs[$i], -100, $pairs[$i + 1], 2);
    select(undef, undef, undef, rand($pause) / 1e6) if $pause;
  }
}

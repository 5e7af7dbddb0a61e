# Lists / by raw getdents64 with buffers of many sizes, and getdents where there is one, and prints each listing as JSON.
use strict; use warnings; use Fcntl;
my %n = `uname -m` =~ /aarch64/ ? (getdents64 => 61, lseek => 62) : (getdents64 => 217, getdents => 78, lseek => 8);
sub entries { my ($call, $buffer) = @_; my $head = $call eq 'getdents' ? 18 : 19; my @all; my $o = 0;
  while ($o < length $buffer) { my ($off, $length) = unpack('qS', substr($buffer, $o + 8, 10));
    push @all, [unpack('Z*', substr($buffer, $o + $head, $length - $head)), $off]; $o += $length }
  @all }
sub show { my ($what, @names) = @_; print "{\"what\":\"$what\",\"names\":[", join(',', map { "\"$_\"" } grep { !/^\.\.?$/ } @names), "]}\n" }
for my $call (grep { $n{$_} } qw(getdents64 getdents)) {
  for my $size (280, 281, 288, 300, 400, 511, 512, 513, 600, 1000, 4096, 32768, 65536, 1 << 20) {
    sysopen my $d, '/', O_RDONLY or die; my @names;
    while (1) { my $b = "\0" x $size; my $got = syscall($n{$call}, fileno $d, $b, $size); die "$call $size: $!" if $got < 0; last if !$got;
      push @names, map { $_->[0] } entries($call, substr $b, 0, $got) }
    show("$call $size", @names) }
  # From each position that an entry names: what has been seen before it and what comes after it are all there is.
  sysopen my $d, '/', O_RDONLY or die; my $b = "\0" x 65536; my $got = syscall($n{$call}, fileno $d, $b, 65536);
  my @all = entries($call, substr $b, 0, $got); my @before;
  for my $e (@all) { push @before, $e->[0]; my $s = $e->[1]; syscall($n{lseek}, fileno $d, $s, 0) >= 0 or die "seek: $!";
    my @rest; while (1) { my $c = "\0" x 4096; my $more = syscall($n{$call}, fileno $d, $c, 4096); last if $more <= 0; push @rest, map { $_->[0] } entries($call, substr $c, 0, $more) }
    show("$call from $s", @before, @rest) }
  # A buffer in which the next entry does not fit is EINVAL, and nothing is lost by it.
  sysopen my $f, '/', O_RDONLY or die; my @names; my $size = 24;
  while (1) { my $s = "\0" x $size; my $g = syscall($n{$call}, fileno $f, $s, $size);
    if ($g < 0) { die "small: $!" unless $! == 22; $size += 8; next } last if !$g; push @names, map { $_->[0] } entries($call, substr $s, 0, $g); $size = 24 }
  show("$call as small as can be", @names) }

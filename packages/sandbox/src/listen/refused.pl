# Hears what the kernel refuses in a network namespace whose every address is its own: by a packet socket, whose filter takes the answers
# to connections that nothing accepts, to datagrams that nothing reads, and the acceptance of connections to the loopback.

# A program of the kernel's packet filter, of lines `LABEL CODE K [LABEL-IF-EQUAL LABEL-IF-NOT]`; `-` is a line without a label.
my $filter = filter(<<'PROGRAM');
-    30 0
-    54 f0
-    15 40 v4 v6
v4   b1 0
-    30 9
-    15 1 icmp tcp
icmp 50 0
-    15 3 yes no
tcp  15 6 at no
at   50 d
-    54 17
-    15 14 rst ack
rst  40 4
-    15 0 yes no
ack  15 12 near no
near 30 c
-    15 7f yes no
v6   30 6
-    15 3a ic6 tcp6
ic6  30 28
-    15 1 yes no
tcp6 15 6 at6 no
at6  30 35
-    54 17
-    15 14 rst6 ack6
rst6 20 2c
-    15 0 yes no
ack6 15 12 by6 no
by6  20 14
-    15 1 yes no
yes  6 80
no   6 0
PROGRAM

sub filter {
  my @lines = map { [split / +/] } split(/\n/, $_[0]);
  my %place = map { $lines[$_][0] => $_ } 0 .. $#lines;
  my $jump = sub { my ($from, $label) = @_; return defined $label ? $place{$label} - $from - 1 : 0 };
  return join '', map { my (undef, $code, $k, @to) = @{$lines[$_]};
    pack('SCCL', hex $code, $jump->($_, $to[0]), $jump->($_, $to[1]), hex $k) } 0 .. $#lines;
}

# The socket; nothing where this kernel has none.
sub hearer {
  socket(my $packets, 17, 2, 0) or return;
  setsockopt($packets, 263, 23, 1); # what leaves comes again as what arrives
  setsockopt($packets, 1, 26, pack('Sx6P', length($filter) / 8, $filter)) or return;
  bind($packets, pack('SnlSCCx8', 17, 3, 1, 0, 0, 0)) or return;
  return $packets;
}

# `tcp ADDRESS PORT` for what was refused, `open PORT` for a connection to the loopback; nothing for a packet that is too short.
sub heard {
  my ($packet) = @_;
  return if length $packet < 40;
  my $is6 = ord($packet) >> 4 == 6;
  my $kind = ord substr($packet, $is6 ? 6 : 9, 1);
  my $inside = substr($packet, $is6 ? 40 : (ord($packet) & 15) * 4);
  if ($kind == 6) {
    return if length $inside < 14;
    my $port = unpack('n', $inside);
    return ord(substr($inside, 13, 1)) & 2 ? "open $port" : 'tcp ' . address_in($packet, $is6, 0) . " $port";
  }
  # the datagram itself
  my $sent = substr($inside, 8);
  return if length $sent < ($is6 ? 44 : 24) || ord(substr($sent, $is6 ? 6 : 9, 1)) != 17;
  my $port = unpack('x2n', substr($sent, $is6 ? 40 : (ord($sent) & 15) * 4) . "\0" x 4);
  return 'udp ' . address_in($sent, $is6, 1) . " $port";
}

# The source of a packet, or its destination.
sub address_in {
  my ($packet, $is6, $isTo) = @_;
  return join '.', unpack('C4', substr($packet, $isTo ? 16 : 12)) if !$is6;
  return join ':', map { sprintf '%x', $_ } unpack('n8', substr($packet, $isTo ? 24 : 8));
}

# Hears what the kernel refuses in a network namespace whose every address is its own.

# A program of the kernel's packet filter, in hexadecimal: code, jumps and operand of each line. It takes RST with number 0, the answer to a
# connection that nothing accepts; unreachable ports of datagrams; and SYN with ACK of the loopback, for a connection that is accepted.
my $filter = pack '(SCCL)*', map { hex } qw(
  30 0 0 0   54 0 0 f0   15 0 e 40
  b1 0 0 0   30 0 0 9    15 0 2 1   50 0 0 0   15 16 17 3  15 0 16 6
  50 0 0 d   54 0 0 17   15 0 2 14  40 0 0 4   15 10 11 0  15 0 10 12  30 0 0 c   15 d e 7f
  30 0 0 6   15 0 2 3a   30 0 0 28  15 9 a 1   15 0 9 6
  30 0 0 35  54 0 0 17   15 0 2 14  20 0 0 2c  15 3 4 0    15 0 3 12   20 0 0 14  15 0 1 1
  6 0 0 80   6 0 0 0
);

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

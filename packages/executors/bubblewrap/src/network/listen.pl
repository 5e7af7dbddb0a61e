# Opens sockets in the network namespace of another process and hands them to Node. It is perl for the reasons of the loader.
#
# The process stays outside: the sandbox holds no listening socket, has no capability for ports below 1024, and no channel to the
# host. Each request is done by a child of its own, which waits for it already. Connections are made beside one another, and other
# requests one after the other.
#
# Root enters the network namespace as root: the kernel counts the descriptors on their way by user, and a command can use up those of
# its own user. Root without the right (CAP_SYS_ADMIN) becomes the owner of the commands. An owner enters the user namespace that the
# network namespace belongs to, and then that.
#
# A socket goes as a message of Node's own format for handles. The next one follows once Node has confirmed it: Node 20 loses one of
# two that come together.
#
# Every address is the sandbox's own, so that the kernel answers for all of them. A refusal is a line of the output, `refused ID …`,
# until the line `end ID` comes. The line `settle ID` asks for the refusals so far, and restarts the count. The answer to either is
# `settled ID`. A child sends the socket that hears it here.
#
# Arguments: the numbers of `setns`, `sendmsg` and `recvmsg`. A line of the input is a request: id, process and its start time, uid, gid,
# the network as `A.B.C.D/BITS`, and `KIND:ADDRESS:PORT` for each socket. For a connection, `out::PORT`, the network is `-`. Descriptor 3 is Node's channel.

my ($setns, $sendmsg, $recvmsg) = @ARGV;
local $SIG{PIPE} = 'IGNORE';
local $| = 1;
open(my $channel, '+<&=', 3) or exit 1;

sub failed { my $e = $! + 0; print "failed $_[0] $_[1] $e\n"; exit 1 }

# A `sockaddr_in`.
sub place { my ($at, $port) = @_; return pack('SnC4x8', 2, $port, split(/\./, $at)) }

# Sends a descriptor with a text (`SCM_RIGHTS`).
sub send_descriptor {
  my ($to, $fd, $text) = @_;
  my $part = pack('PQ', $text, length $text);
  my $rights = pack('Qlllx4', 20, 1, 1, $fd);
  my $message = pack('QLx4PQPQlx4', 0, 0, $part, 1, $rights, length $rights, 0);
  return syscall($sendmsg, $to, $message, 0) > 0;
}

# Takes a descriptor that was sent with one byte; nothing where none was.
sub take_descriptor {
  my ($from) = @_;
  my ($byte, $rights) = ("\0", "\0" x 24);
  my $part = pack('PQ', $byte, 1);
  my $message = pack('QLx4PQPQlx4', 0, 0, $part, 1, $rights, length $rights, 0);
  return if syscall($recvmsg, fileno $from, $message, 0x40000040) < 1;
  my ($length, $level, $type, $fd) = unpack('Qlll', $rights);
  return if $length != 20 || $type != 1;
  open(my $taken, '+<&=', $fd) or return;
  return $taken;
}

# Sends a descriptor to Node, and waits until it is there.
sub hand {
  my ($id, $fd, $json) = @_;
  send_descriptor(3, $fd, "$json\n") or failed($id, 'sendmsg');
  my $answer = '';
  until ($answer =~ /\n/) { sysread($channel, my $more, 4096) or failed($id, 'confirm'); $answer .= $more }
  $answer =~ /"NODE_HANDLE_ACK"/ or failed($id, 'confirm');
}

# Asks the kernel by netlink. Answers its error, or 0.
sub ask {
  my ($id, $type, $body) = @_;
  socket(my $link, 16, 3, 0) or failed($id, 'netlink');
  send($link, pack('LSSLL', 16 + length $body, $type, 0x605, 1, 0) . $body, 0) or failed($id, 'netlink');
  recv($link, my $answer, 4096, 0);
  return -(unpack('LSSLLl', $answer))[5];
}

# Gives the loopback its address (RTM_NEWADDR), and every other address (RTM_NEWROUTE), of both families where there are both.
sub address {
  my ($id, @parts) = @_;
  my $place = pack('C4', @parts[0 .. 3]);
  # 17: a network that was used before has it
  my $error = ask($id, 20, pack('CCCCL', 2, $parts[4], 0, 254, 1) . pack('SSa4', 8, 2, $place) . pack('SSa4', 8, 1, $place));
  if ($error && $error != 17) { $! = $error; failed($id, 'address') }
  ask($id, 24, pack('C8L', $_, 0, 0, 0, 255, 4, $_ == 2 ? 254 : 0, 2, 0) . pack('SSL', 8, 4, 1)) for 2, 10;
}

# The network namespace of a process; nothing where this user may not have it.
sub network_of {
  my ($id, $pid, $start) = @_;
  open(my $net, '<', "/proc/$pid/ns/net") or return;
  # the number of a process that has ended may be another's by now
  open(my $stat, '<', "/proc/$pid/stat") or failed($id, 'process');
  my $line = <$stat>;
  close $stat;
  my ($started) = $line =~ /.*\) (?:\S+ ){19}(\d+) /s;
  if (($started // '') ne $start) { $! = 3; failed($id, 'process') }
  my @own = stat('/proc/self/ns/net');
  my @other = stat($net);
  if ("@own[0, 1]" eq "@other[0, 1]") { $! = 22; failed($id, 'own-namespace') }
  return $net;
}

# Enters the network namespace of a process.
sub enter {
  my ($id, $pid, $start, $uid, $gid) = @_;
  my $net = network_of($id, $pid, $start);
  if ($> == 0) {
    return if $net && syscall($setns, fileno $net, 0x40000000) == 0; # @defence one command that takes all of a count of the machine: come as well from root
    $( = $gid;
    $) = "$gid $gid";
    ($<, $>) = ($uid, $uid);
    $> == $uid or failed($id, 'owner');
    $net = network_of($id, $pid, $start);
  }
  $net or failed($id, 'namespace');
  my $user = ioctl($net, 0xb701, 0);
  defined $user or failed($id, 'user-namespace');
  syscall($setns, $user + 0, 0x10000000) == 0 or failed($id, 'enter-user');
  syscall($setns, fileno $net, 0x40000000) == 0 or failed($id, 'enter-network');
}

# A connection to a port of the loopback, of either family. A listener whose queue is full says nothing: it is asked again for half a second.
sub connected {
  my ($port) = @_;
  my $tries = 10;
  my $first = place('127.0.0.1', $port);
  for my $to ($first, pack('SnNa16N', 10, $port, 0, "\0" x 15 . "\1", 0)) {
    while ($tries) {
      socket(my $socket, unpack('S', $to), 1 | 0x800, 0) or return;
      return $socket if connect($socket, $to);
      last if $! != 115;
      vec(my $writable = '', fileno $socket, 1) = 1;
      if (select(undef, $writable, undef, 0.05) > 0) {
        $! = unpack('l', getsockopt($socket, 1, 4));
        return $socket if $! == 0;
        last;
      }
      $tries--;
    }
  }
  $! = 110 if !$tries;
  return;
}

# Does one request, and ends.
sub open_all {
  my ($parent, $id, $pid, $start, $uid, $gid, $network, @wanted) = @_;
  enter($id, $pid, $start, $uid, $gid);
  address($id, split(/[.\/]/, $network)) if $network ne '-';
  # where there is none, refusals have no words
  my $packets = $network ne '-' && hearer();
  send_descriptor(fileno $parent, fileno $packets, '.') if $packets;
  for my $number (0 .. $#wanted) {
    my ($kind, $at, $port) = split(/:/, $wanted[$number]);
    if ($kind eq 'out') {
      my $connected = connected($port) or failed($id, 'connect');
      send_descriptor(fileno $parent, fileno $connected, '.') or failed($id, 'sendmsg');
      exit 0;
    }
    socket(my $socket, 2, $kind eq 'dns' ? 2 : 1, 0) or failed($id, 'socket');
    setsockopt($socket, 1, 2, 1) if $kind ne 'dns';
    bind($socket, place($at, $port)) or failed($id, 'bind');
    if ($kind ne 'dns') { listen($socket, 128) or failed($id, 'listen') }
    my $type = $kind eq 'dns' ? '"dgram.Socket","dgramType":"udp4"' : '"net.Server"';
    hand($id, fileno $socket, qq({"cmd":"NODE_HANDLE","type":$type,"msg":{"id":$id,"number":$number}}));
  }
  exit 0;
}

# A child that waits for its request. Answers its process number, and the way to it.
sub spare {
  socketpair(my $from, my $to, 1, 1, 0) or return;
  my $child = fork;
  return unless defined $child;
  if ($child) { close $from; return ($child, $to) }
  close $to;
  my $line = <$from>;
  exit 0 unless defined $line;
  chomp $line;
  open_all($from, split(/ /, $line));
}

# For each network: the socket that hears its refusals, and those that were told. After $most refusals, the socket is not read until it settles.
my (%hears, %told);
# For each connection that is being made: the child, and the way to it.
my %connects;
my $most = 100;
my ($child, $to) = spare();

# Tells what was refused, each once. It reads a bounded number of packets, since a command can cause any number.
sub report {
  my ($id, $reads) = @_;
  while ($reads-- && $hears{$id} && defined recv($hears{$id}, my $packet, 128, 0x40)) {
    my $line = heard($packet) // next;
    next if is_full($id) || $told{$id}{$line}++; # @defence `is_full($id) || ` a command that floods the helper which hears: are told up to a number
    print "refused $id $line\n";
  }
}

sub is_full { my ($id) = @_; return keys %{ $told{$id} // {} } >= $most }

sub take {
  my ($line) = @_;
  my ($id, $settled) = split(/ /, $line);
  if ($id eq 'end' || $id eq 'settle') {
    report($settled, 1000);
    delete $hears{$settled} if $id eq 'end';
    delete $told{$settled};
    print "settled $settled\n";
    return;
  }
  ($child, $to) = spare() if !$child;
  if (!$child) { my $e = $! + 0; print "failed $id fork $e\n"; return }
  syswrite($to, "$line\n");
  if ($line =~ / out:/) { $connects{$id} = [$child, $to] } else { finish($id, $child, $to) }
  ($child, $to) = spare();
}

# Takes the socket of a child that has done its request.
sub finish {
  my ($id, $child, $to) = @_;
  waitpid($child, 0);
  my $taken = $? == 0 && take_descriptor($to);
  my $connects = delete $connects{$id};
  # it has ended without a word
  print "failed $id ended 0\n" if $? > 256 || $? & 127 || $connects && $? == 0 && !$taken;
  close $to;
  return if !$taken;
  return $hears{$id} = $taken if !$connects;
  hand($id, fileno $taken, qq({"cmd":"NODE_HANDLE","type":"net.Socket","msg":{"id":$id,"number":0}}));
}

my $input = '';
while (1) {
  my $wanted = '';
  my @heard = grep { !is_full($_) } keys %hears;
  vec($wanted, fileno $_, 1) = 1 for *STDIN, @hears{@heard}, map { $_->[1] } values %connects;
  select(my $ready = $wanted, undef, undef, undef) > 0 or next;
  my @done = grep { vec($ready, fileno $connects{$_}[1], 1) } keys %connects;
  if (vec($ready, 0, 1)) {
    sysread(STDIN, $input, 65536, length $input) or exit 0;
    take($1) while $input =~ s/^(.*)\n//;
  }
  finish($_, @{ $connects{$_} }) for @done;
  if (!@done && !vec($ready, 0, 1)) {
    report($_, 64) for @heard;
    # others use this process too: packets wait a moment, requests do not
    vec(my $requests = '', 0, 1) = 1;
    select($requests, undef, undef, 0.02);
  }
}

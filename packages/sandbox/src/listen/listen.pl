# Opens sockets in the network namespace of another process and hands them to Node. It is perl for the reasons of the loader.
#
# The process stays outside: the sandbox holds no listening socket, has no capability for ports below 1024, and no channel to the
# host. Each request is done by a child of its own, which waits for it already.
#
# Root enters the network namespace as root: the kernel counts the descriptors on their way by user, and a command can use up those of
# its own user. Root without the right (CAP_SYS_ADMIN) becomes the owner of the commands. An owner enters the user namespace that the
# network namespace belongs to, and then that.
#
# A socket goes as a message of Node's own format for handles. The next one follows once Node has confirmed it: Node 20 loses one of
# two that come together.
#
# Arguments: the numbers of `setns` and `sendmsg`. A line of the input is a request: id, process and its start time, uid, gid,
# the network as `A.B.C.D/BITS`, and `KIND:ADDRESS:PORT` for each socket. Descriptor 3 is Node's channel.

my ($setns, $sendmsg) = @ARGV;
local $SIG{PIPE} = 'IGNORE';
local $| = 1;
open(my $channel, '+<&=', 3) or exit 1;

sub failed { my $e = $! + 0; print "failed $_[0] $_[1] $e\n"; exit 1 }

# A `sockaddr_in`.
sub place { my ($at, $port) = @_; return pack('SnC4x8', 2, $port, split(/\./, $at)) }

# Sends a descriptor with a message (`SCM_RIGHTS`), and waits until Node has it.
sub hand {
  my ($id, $fd, $json) = @_;
  $json .= "\n";
  my $part = pack('PQ', $json, length $json);
  my $rights = pack('Qlllx4', 20, 1, 1, $fd);
  my $message = pack('QLx4PQPQlx4', 0, 0, $part, 1, $rights, length $rights, 0);
  syscall($sendmsg, 3, $message, 0) > 0 or failed($id, 'sendmsg');
  my $answer = '';
  until ($answer =~ /\n/) { sysread($channel, my $more, 4096) or failed($id, 'confirm'); $answer .= $more }
  $answer =~ /"NODE_HANDLE_ACK"/ or failed($id, 'confirm');
}

# Gives an interface its address: RTM_NEWADDR by netlink.
sub address {
  my ($id, $index, @parts) = @_;
  socket(my $link, 16, 3, 0) or failed($id, 'netlink');
  my $place = pack('C4', @parts[0 .. 3]);
  my $body = pack('CCCCL', 2, $parts[4], 0, 254, $index) . pack('SSa4', 8, 2, $place) . pack('SSa4', 8, 1, $place);
  send($link, pack('LSSLL', 16 + length $body, 20, 0x605, 1, 0) . $body, 0) or failed($id, 'netlink');
  recv($link, my $answer, 4096, 0);
  my $error = (unpack('LSSLLl', $answer))[5];
  if ($error) { $! = -$error; failed($id, 'address') }
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
    return if $net && syscall($setns, fileno $net, 0x40000000) == 0;
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

# Does one request, and ends.
sub open_all {
  my ($id, $pid, $start, $uid, $gid, $network, @wanted) = @_;
  enter($id, $pid, $start, $uid, $gid);
  address($id, 1, split(/[.\/]/, $network));
  for my $number (0 .. $#wanted) {
    my ($kind, $at, $port) = split(/:/, $wanted[$number]);
    socket(my $socket, 2, $kind eq 'dns' ? 2 : 1, 0) or failed($id, 'socket');
    setsockopt($socket, 1, 2, 1) if $kind ne 'dns';
    bind($socket, place($at, $port)) or failed($id, 'bind');
    if ($kind ne 'dns') { listen($socket, 128) or failed($id, 'listen') }
    my $type = $kind eq 'dns' ? '"dgram.Socket","dgramType":"udp4"' : '"net.Server"';
    hand($id, fileno $socket, qq({"cmd":"NODE_HANDLE","type":$type,"msg":{"id":$id,"number":$number}}));
  }
  print "done $id\n";
  exit 0;
}

# A child that waits for its request. Answers its process number, and the way to it.
sub spare {
  pipe(my $from, my $to) or return;
  my $child = fork;
  return unless defined $child;
  return ($child, $to) if $child;
  close $to;
  my $line = <$from>;
  exit 0 unless defined $line;
  chomp $line;
  open_all(split(/ /, $line));
}

my ($child, $to) = spare();
while (defined(my $line = <STDIN>)) {
  my ($id) = split(/ /, $line);
  ($child, $to) = spare() if !$child;
  if (!$child) { my $e = $! + 0; print "failed $id fork $e\n"; next }
  syswrite($to, $line);
  close $to;
  waitpid($child, 0);
  # it has ended without a word
  print "failed $id ended 0\n" if $? > 256 || $? & 127;
  ($child, $to) = spare();
}

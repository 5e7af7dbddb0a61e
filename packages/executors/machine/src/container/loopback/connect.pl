# Connects to a port of the loopback that it runs in, and carries bytes both ways. Arguments: the port. Exits with 1 if nothing listens.

use Socket;

my ($port) = @ARGV;
my $address = pack_sockaddr_in($port, INADDR_LOOPBACK);
my $socket;
if (!socket($socket, PF_INET, SOCK_STREAM, 0) || !connect($socket, $address)) {
  socket($socket, PF_INET6, SOCK_STREAM, 0) or exit 1;
  connect($socket, pack_sockaddr_in6($port, IN6ADDR_LOOPBACK)) or exit 1;
}

# Carries all bytes of one direction.
sub carry {
  my ($from, $to) = @_;
  while (sysread($from, my $bytes, 65536)) {
    while (length $bytes) {
      my $wrote = syswrite($to, $bytes) // return;
      substr($bytes, 0, $wrote, '');
    }
  }
}

$SIG{PIPE} = 'IGNORE';
my $child = fork // exit 1;
if (!$child) { carry(\*STDIN, $socket); shutdown($socket, 1); exit 0 }
carry($socket, \*STDOUT);

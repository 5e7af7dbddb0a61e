# Enters the network namespace that a process holds, and becomes a program there.
#
# It enters the user namespace that the network belongs to, and has every right there until the program starts. The program has none.
# A program that shares its network with this process must never start in another one, so the namespace is compared by its name.
#
# Arguments: the number of `setns`, the process that holds the network, its start time, the name of the namespace, and the program.

my ($setns, $pid, $start, $name) = splice(@ARGV, 0, 4);

sub fail { my $e = $! + 0; syswrite(STDERR, "shared loopback: $_[0] $e ($!)\n"); exit 126 }
sub own { return readlink('/proc/self/ns/net') // fail('own') }

if (own() eq $name) { $! = 22; fail('own-namespace') }
open(my $net, '<', "/proc/$pid/ns/net") or fail('namespace');
# the number of a process that has ended may be another's by now
open(my $stat, '<', "/proc/$pid/stat") or fail('process');
my ($started) = <$stat> =~ /.*\) (?:\S+ ){19}(\d+) /s;
if (($started // '') ne $start) { $! = 3; fail('process') } # @defence would start in the network of this machine: compared with the held one
my $user = ioctl($net, 0xb701, 0) or fail('user-namespace');
syscall($setns, $user + 0, 0x10000000) == 0 or fail('enter-user');
syscall($setns, fileno $net, 0x40000000) == 0 or fail('enter-network');
if (own() ne $name) { $! = 22; fail('other-namespace') } # @defence would start in the network of this machine: compared with the held one
# what was opened here closes with this program
exec { $ARGV[0] } @ARGV or fail('exec');

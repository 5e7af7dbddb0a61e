# Leads the session inside the sandbox: takes the terminal as its controlling terminal, starts the command on it, and waits.
#
# The command is not the session leader itself: when a leader with a terminal ends, the kernel hangs the terminal up. Unread output can
# then be lost, and no process can write to the terminal any more. This leader detaches from the terminal before it ends. It ignores
# signals of the terminal, since they are meant for the command.
#
# Arguments: the number of `setsid`, and the command. Descriptor 6 is the terminal.

my ($setsid, @argv) = @ARGV;
my @signals = qw(HUP INT QUIT TERM USR1 USR2 TSTP TTIN TTOU);

sub failed { syswrite(STDERR, "no terminal: $_[0] " . ($! + 0) . "\n"); exit 125 }

syscall($setsid) >= 0 or failed('session');
open(my $tty, '+<&=', 6) or failed('descriptor');
ioctl($tty, 0x540E, 0) or failed('control');    # TIOCSCTTY
for (@signals) { $SIG{$_} = sub { } }
my $pid = fork();
defined $pid or failed('fork');
if (!$pid) {
  for (@signals) { $SIG{$_} = 'DEFAULT' }
  exit 126 unless open(STDIN, '<&', 6) && open(STDOUT, '>&', 6) && open(STDERR, '>&', 6);
  close($tty);
  exec { $argv[0] } @argv or exit 127;
}
my $ended;
do { $ended = waitpid($pid, 0) } while $ended < 0 && $! == 4;
my $status = $?;
$SIG{HUP} = 'IGNORE';
ioctl($tty, 0x5422, 0);                         # TIOCNOTTY
close($tty);
if (my $signal = $status & 127) {
  for (@signals) { $SIG{$_} = 'DEFAULT' }
  kill($signal, $$);
  exit(128 + $signal);
}
exit($status >> 8);

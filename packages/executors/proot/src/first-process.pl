# The first process in proot's view: starts the command and reports how it ended. proot does not start it itself, because
#
# - proot ends with 255 for any signal that ended its first process, and only when its last process has ended: a background process
#   would keep a command from ending;
# - its environment is proot's as well, where PROOT_LOADER names a host path, and LD_PRELOAD would act outside the view.
#
# Signals to the whole group are for the command, so it sits them out.
#
# A command goes on for a moment when proot has been killed, and fails at its next path. So an ending counts only if proot still
# translates afterwards: then it lived as long as the command did.
#
# Arguments: the command. Descriptor 3 has the orders: device and inode of what is `/etc` in the view alone, the directory, and the
# variables. Reports go to descriptor 4, and the command's standard error is descriptor 5.

my @signals = qw(TERM INT HUP QUIT USR1 USR2);
open(my $in, '<&=', 3) or exit 125;
my @fields;
{ local $/; @fields = unpack('(V/a)*', <$in>) }
close($in);
open(my $err, '>&=', 5) or exit 125;
open(my $out, '>&=', 4) or exit 125;

sub report { syswrite($out, "$_[0]\n") }
sub fail { my ($step) = @_; report("fail $step " . ($! + 0)); exit 126 }

my $own = shift @fields;
my $cwd = shift @fields;
chdir($cwd) or fail('cwd');
for (@signals) { $SIG{$_} = sub { } }
report('started');
my $pid = fork();
defined $pid or fail('fork');
if (!$pid) {
  for (@signals) { $SIG{$_} = 'DEFAULT' }
  open(STDERR, '>&', 5) or exit 126;
  close($err);
  %ENV = map { split(/=/, $_, 2) } @fields;
  exec { $ARGV[0] } @ARGV or fail('exec');
}
my $ended;
do { $ended = waitpid($pid, 0) } while $ended < 0 && $! == 4;
my $status = $?;
my @etc = stat('/etc');
exit 0 unless @etc && "$etc[0]:$etc[1]" eq $own;
report($status & 127 ? 'signal ' . ($status & 127) : 'exit ' . ($status >> 8));
exit 0;

# The first process in proot's view. It starts the command and reports how the command ended. proot cannot start the command itself:
#
# - proot exits with 255 for any signal that ends its first process, and exits only after its last process. A background process would
#   therefore keep a command from ending.
# - The first process gets proot's environment. There, PROOT_LOADER contains a host path, and LD_PRELOAD would act outside the view.
#
# This process ignores signals to the whole group, since they are meant for the command.
#
# After proot is killed, a command runs on until its next path, which fails. So this process reports an end only if proot still
# translates paths afterwards: proot then lived as long as the command.
#
# Arguments: the command. Descriptor 3 contains the orders: device and inode of the view's own `/etc`, the directory, and the
# variables. Reports go to descriptor 4. The command's standard error is descriptor 5.

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
exit 0 unless @etc && "$etc[0]:$etc[1]" eq $own; # @defence killing proot: the tracer still translates
report($status & 127 ? 'signal ' . ($status & 127) : 'exit ' . ($status >> 8));
exit 0;

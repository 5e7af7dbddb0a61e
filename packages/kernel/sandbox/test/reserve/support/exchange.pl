# A command of another workspace on the same directory: exchange.pl KEEPER ROOT UID GID CALL-NUMBER TARGET...
# It stops the keeper again and again, so that the machine's load does not decide the race. In the meantime, as that user,
# it exchanges each name that begins with `.ws-tmp-` for a link to a target outside, or does so with what such a directory
# holds. It prints a line for each exchange, and ends with its parent or the keeper.
use strict;
use warnings;
my ($keeper, $root, $uid, $gid, $call, @targets) = @ARGV;
my ($links, $parent) = (0, getppid());
$| = 1;
srand(1);
sub swap {
  my ($place) = @_;
  my $link = "$root/link-" . $links++;
  symlink($targets[rand @targets], $link) or return;
  return unlink($link) if syscall($call + 0, -100, $link, -100, $place, 2) != 0;
  print "exchanged\n";
}
sub exchange {
  opendir(my $d, $root) or return;
  for my $name (readdir $d) {
    my $place = "$root/$name";
    # A link that the keeper has moved to its name would end the race.
    if ($name !~ /^link-/ && -l $place) { unlink $place; next }
    next if $name !~ /^\.ws-tmp-/;
    if (-l $place) { unlink $place; next }
    if (rand() < 0.3 && opendir(my $below, $place)) { swap("$place/$_") for grep { !/^\.\.?$/ } readdir $below }
    else { swap($place) }
  }
}
my $asRoot = $> == 0;
while (getppid() == $parent && kill('STOP', $keeper)) {
  if ($asRoot) { $) = "$gid $gid"; $> = $uid }
  exchange();
  if ($asRoot) { $> = 0 }
  kill('CONT', $keeper);
  select(undef, undef, undef, rand(0.002));
}

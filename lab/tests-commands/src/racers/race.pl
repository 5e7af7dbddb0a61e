# The other process of a race: race.pl MODE CALL-NUMBER MICROSECONDS SEED SCRATCH
#   exchange  swaps directories with links to outside, and a file with a link to outside, each in one step
#   churn     renames, deletes and creates them anew
# It puts back the entries that operations have removed. Ends with its parent, or at SIGTERM; then it prints how often it acted.
use strict;
use warnings;
my ($mode, $number, $pause, $seed, $scratch) = @ARGV;
$number += 0;
srand($seed);
$| = 1;
my $parent = getppid();
my $stop = 0;
$SIG{TERM} = sub { $stop = 1 };
my ($acts, $made) = (0, 0);

my ($tree, $flat) = ("$scratch/workspace/tree", "$scratch/workspace/flat");
my @dir = ("$tree/dir", "$tree/link", '../../outside');
my @mount = ("$scratch/mounts/skills", "$scratch/mounts/skills-link", '../outside');
my @file = ("$flat/slot.txt", "$flat/slot-link.txt", '../../outside/file.txt');

sub put {
  my ($path, $text) = @_;
  open(my $to, '>', $path) or return;
  print $to $text;
  close $to;
}

# A directory like the one outside, made away from the race, and moved into place by one rename.
sub fresh_directory {
  my ($place) = @_;
  my $stock = "$scratch/stock/" . $made++;
  mkdir $stock;
  put("$stock/file.txt", "inside content\n");
  put("$stock/other.txt", "inside content\n");
  mkdir "$stock/sub";
  mkdir "$stock/sub/deep";
  put("$stock/sub/deep/file.txt", "inside denied content\n");
  rename($stock, $place) or remove($stock);
}

sub fresh_file {
  my ($place) = @_;
  my $stock = "$scratch/stock/" . $made++;
  put($stock, "inside content\n");
  rename($stock, $place) or unlink($stock);
}

sub remove {
  my ($path) = @_;
  if (-l $path || !-d _) { unlink($path); return }
  opendir(my $entries, $path) or return;
  my @names = grep { $_ ne '.' && $_ ne '..' } readdir $entries;
  closedir $entries;
  remove("$path/$_") for @names;
  rmdir $path;
}

# One of the two names is the real thing, the other the link, in whichever order.
sub refill {
  my ($fresh, $one, $two, $target) = @_;
  lstat($one);
  my ($there, $link) = (-e _ || -l _, -l _);
  lstat($two);
  my ($there2, $link2) = (-e _ || -l _, -l _);
  if (!$there) { $there2 && !$link2 ? symlink($target, $one) : $fresh->($one) }
  if (!$there2) { $there && $link ? $fresh->($two) : symlink($target, $two) }
}

sub refill_all {
  mkdir $tree;
  mkdir $flat;
  refill(\&fresh_directory, @dir);
  refill(\&fresh_file, @file);
  refill(\&fresh_directory, @mount);
}

# Short rests now and then: mostly it must be there when an operation looks. Each time, and now and then a long one, for
# what takes long itself.
sub rest {
  return if $pause < 1000 && rand() > 0.1;
  select(undef, undef, undef, rand() ** 3 * $pause / 1e6);    ## no critic (ProhibitSleepViaSelect)
}

sub exchange {
  for my $pair (\@dir, \@file, \@mount) {
    my ($one, $two) = ("$pair->[0]", "$pair->[1]");
    my $failed = syscall($number, -100, $one, -100, $two, 2) != 0;
    if ($failed) { refill_all() } else { $acts++ }
    rest();
  }
  # both may have become real, or both links, by moves: rarely, but then nothing would race any more
  refill_all_anew() if rand() < 0.0005;
}

sub refill_all_anew {
  for my $pair (\@dir, \@file) {
    next if !!-l $pair->[0] ne !!-l $pair->[1];
    remove($pair->[0]);
    remove($pair->[1]);
  }
  refill_all();
}

my $away = "$tree/away";
my @steps = (
  sub { rename($dir[0], $away); rename($dir[1], $dir[0]); rest(); rename($dir[0], $dir[1]) if -l $dir[0]; rename($away, $dir[0]) },
  sub { rename($dir[0], $away); rest(); rename($away, $dir[0]) },
  sub { remove($dir[0]); rest(); fresh_directory($dir[0]) },
  sub { rename("$dir[0]/sub", "$dir[0]/sub2"); symlink('../../../outside/sub', "$dir[0]/sub"); rest(); unlink("$dir[0]/sub"); rename("$dir[0]/sub2", "$dir[0]/sub") },
  sub { unlink($file[0]); symlink($file[2], $file[0]); rest(); fresh_file($file[0]) },
  sub { rename($file[0], "$flat/kept"); rename($file[1], $file[0]); rest(); rename($file[0], $file[1]) if -l $file[0]; rename("$flat/kept", $file[0]) },
  sub { symlink($file[2], "$flat/new-link"); rename("$flat/new-link", $file[0]); rest(); unlink($file[0]); fresh_file($file[0]) },
  sub { unlink($file[0]); mkdir $file[0]; rest(); rmdir $file[0]; fresh_file($file[0]) },
  sub { rename($tree, "$tree-away"); symlink('../outside', $tree); rest(); unlink($tree) if -l $tree; rename("$tree-away", $tree) },
  sub { fresh_file("$dir[0]/file.txt") },
);

sub churn {
  # never works through a link itself
  refill_all() unless -d $dir[0] && -l $dir[1] && -f $file[0] && -l $file[1];
  return unlink($tree) if -l $tree;
  return remove($dir[0]) if -l $dir[0];
  remove("$tree-away") if -d $tree && -d "$tree-away";
  # creating takes long, and renaming is what races are won by
  $steps[rand() < 0.95 ? int(rand(2)) * 5 : int rand @steps]->();
  $acts++;
  remove($away) if !-l $dir[0] && -d $dir[0] && -d $away;
  rest();
}

mkdir "$scratch/stock";
refill_all();
print "started\n";
while (!$stop && getppid() == $parent) { $mode eq 'churn' ? churn() : exchange() }
print "$acts\n";

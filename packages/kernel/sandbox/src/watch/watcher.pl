# Watches directories for Node, whose own watch reports fewer kinds of changes and no overflow. Each line of the input is a request, and
# the answer is one line. The input ends with the Node process.
#
# Requests: open TREE ROOT CONTENT | add TREE PATH... | ask TREE | close TREE. Paths and names are hexadecimal. The answers in the same order:
# 0 or an errno | for each path a watch, or minus an errno | `lost`, or WATCH:MASK:NAME for each event | 0.

use strict;
my ($init, $add) = @ARGV;
# events: attributes, moved from and to, created, deleted, the directory itself deleted or moved; flags: directories only, no links
my $mask = 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x1000000 | 0x2000000;
# with CONTENT 1 also: written, closed after writing
my $content = 0x2 | 0x8;
my %trees;

sub opened {
  my ($id, $root, $with) = @_;
  my $fd = syscall($init + 0, 02004000);
  return $! + 0 if $fd < 0;
  open(my $events, '<&=', $fd) or return $! + 0;
  open(my $table, '<', '/proc/self/mountinfo') or return $! + 0;
  $trees{$id} = { events => $events, table => $table, root => pack('H*', $root), mask => $with ? $mask | $content : $mask };
  is_changed($trees{$id});
  $trees{$id}{mounts} = mounts($trees{$id});
  return 0;
}

# Returns whether the mount table has changed since the last call.
sub is_changed {
  my ($tree) = @_;
  my $changes = '';
  vec($changes, fileno $tree->{table}, 1) = 1;
  return select(undef, undef, $changes, 0) != 0;
}

# Returns the mounts in a tree, as text.
sub mounts {
  my ($tree) = @_;
  my $root = readlink($tree->{root}) // '';
  my ($text, $chunk) = ('', '');
  sysseek($tree->{table}, 0, 0);
  $text .= $chunk while sysread($tree->{table}, $chunk, 65536);
  my @found;
  while ($text =~ /^(\d+) \S+ \S+ \S+ (\S+)/mg) {
    my ($id, $point) = ($1, $2);
    $point =~ s/\\([0-7]{3})/chr oct $1/ge;
    push @found, "$id $point" if $root eq '/' || index("$point/", "$root/") == 0;
  }
  return join "\n", @found;
}

sub added {
  my ($tree, @paths) = @_;
  return join ' ', map {
    my $watch = syscall($add + 0, fileno $tree->{events}, pack('H*', $_), $tree->{mask});
    $watch < 0 ? -$! : $watch;
  } @paths;
}

sub asked {
  my ($tree) = @_;
  my (%seen, @found, $buffer);
  my $lost = is_changed($tree) && mounts($tree) ne $tree->{mounts};
  while (sysread($tree->{events}, $buffer, 65536)) {
    for (my $at = 0; $at < length $buffer;) {
      my ($watch, $kind, undef, $length) = unpack 'lLLL', substr($buffer, $at, 16);
      my $event = "$watch:$kind:" . unpack('H*', unpack('Z*', substr($buffer, $at + 16, $length)));
      $at += 16 + $length;
      $lost ||= $watch < 0; # @defence a change that the watch of a tree: after more changes than the kernel notes
      push @found, $event unless $lost || $seen{$event}++;
    }
  }
  return $lost ? 'lost' : join ' ', @found;
}

local $| = 1;
while (defined(my $line = <STDIN>)) {
  chomp $line;
  my ($what, $id, @paths) = split / /, $line;
  my $tree = $trees{$id};
  if ($what eq 'open') { print opened($id, @paths), "\n" }
  elsif ($what eq 'add') { print $tree ? added($tree, @paths) : '', "\n" }
  elsif ($what eq 'ask') { print $tree ? asked($tree) : 'lost', "\n" }
  else { delete $trees{$id}; print "0\n" }
}

# The keeper: reserves names on disk and watches the mount tables of sandboxes, for all commands of one process. It is perl, because
# Node has neither `renameat2` nor `flock` nor a way to wait for a change of a mount table. It follows journal.pl,
# entries.pl, places.pl, cover.pl and watch.pl.
#
# Placeholders. A reserved name is an empty directory (mode 0555, with a random time), made under a temporary name and moved in by
# `RENAME_NOREPLACE`, so that it never replaces anything. Directories above it that are missing are made with it (mode 0755). It
# stays when something is made in it, since only `rmdir` removes it. Where a program has to read something at the name, the
# placeholder is a file with that content (mode 0444).
#
# The journal is one small file for each reserved directory and user of it, written before the directory has its name, and removed
# after it has gone: `KIND PATH DEVICE INODE SECONDS`, the path in hexadecimal. Its name begins with the mark of its keeper, whose
# lock file is locked while the keeper lives. All changes are made under one lock, `mutex`. A keeper that only watches never takes
# it, and a keeper that waits for it watches on.
#
# A directory is removed by its last living user, through the descriptor of its parent, and only while device, inode, mode and
# (except for directories above) time are still those of the journal.
#
# When its input ends, its process has ended: it kills the processes that it watches, waits for their end, and removes the names
# that it holds.
#
# Input: a line with the journal's directory in hexadecimal, the mark, the flags for directories, and numbers of system calls. Then
# a line for each order: `place`, `drop`, `sweep`, `watch` or `unwatch`, an id, and the arguments of the routine of that name.

our ($dir, $mark, %n, $flags, $readable, %watched);
$SIG{$_} = 'IGNORE' for qw(TERM INT HUP PIPE);
umask 077;
my $buffer = '';

# The next line of the input; undef at its end.
sub line {
  while ($buffer !~ /\n/) { my $got = sysread(STDIN, $buffer, 65536, length $buffer); return undef unless $got }
  $buffer =~ s/^([^\n]*)\n//;
  return $1;
}

my ($directory, $own, $how, @numbers) = split / /, line() // exit 0;
$dir = pack('H*', $directory);
$mark = $own;
$flags = $how + 0;
# without O_PATH
$readable = $flags & ~010000000;
%n = map { /(\w+)=(\d+)/ ? ($1, $2 + 0) : () } @numbers;

# Answers a line.
sub say_ { syswrite(STDOUT, join(' ', @_) . "\n") }

# Does an order. Answers what is to be said of a name.
sub order {
  my ($what, $id, @rest) = split / /, $_[0];
  if ($what eq 'place') { return ('placed', $id, place($id, @rest)) }
  elsif ($what eq 'drop') { return ('dropped', $id, drop($id)) }
  elsif ($what eq 'sweep') { say_('swept', $id, locked(\&sweep)) }
  elsif ($what eq 'watch') { watch($id, @rest) }
  elsif ($what eq 'unwatch') { unwatch($id) }
}

# Names come and go in groups: one lock and one look at the journal for what has come together.
sub orders {
  my @lines = @_;
  while (@lines) {
    my (@group, @said);
    push @group, shift @lines while @lines && $lines[0] =~ /^(?:place|drop) /;
    my $failed = @group ? locked(sub { push @said, [order($_)] for @group; made(); '' }) : '';
    @said = map { my ($what, $id) = split / /; [$what eq 'place' ? 'placed' : 'dropped', $id, $failed] } @group
      if $failed ne '';
    say_(@$_) for @said;
    order(shift @lines) if @lines;
  }
}

while (1) {
  my @lines;
  push @lines, $1 while $buffer =~ s/^([^\n]*)\n//;
  orders(@lines);
  if (attend(1, undef)) { my $got = sysread(STDIN, $buffer, 65536, length $buffer); last unless $got }
}

# The process that it works for has ended.
end($_) for values %watched;
my $until = time() + 10;
for my $w (values %watched) {
  until (time() > $until) {
    my $in = '';
    vec($in, $w->{pidfd}, 1) = 1;
    last if select($in, undef, undef, 0.5) > 0;
  }
}
drop_all();
end_journal();

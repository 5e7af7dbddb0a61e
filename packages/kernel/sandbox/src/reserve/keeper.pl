# The keeper: reserves names on disk and watches the mount tables of sandboxes, for all commands of one process. The language is perl,
# because Node cannot call `renameat2` or `flock`, or wait for a change of a mount table. In the script, this part comes after
# journal.pl, entries.pl, places.pl, cover.pl and watch.pl.
#
# Placeholders: a reserved name is an empty directory (mode 0555, with a random time). The keeper creates it under a temporary name,
# then renames it by `RENAME_NOREPLACE`, which never replaces an entry. The keeper also creates missing directories above (mode 0755).
# A placeholder with an entry in it remains, since only `rmdir` removes placeholders. If a program must be able to read the name, the
# placeholder is a file with the given content (mode 0444).
#
# The journal has one small file for each reserved entry and each of its users: `KIND PATH DEVICE INODE SECONDS`, with the path in
# hexadecimal. The file is written before the entry gets its name, and removed after the entry. Its name begins with the mark of its
# keeper. Each keeper has a lock file, which is locked while the keeper lives. All changes need another lock, `mutex`. A keeper that
# only watches never takes `mutex`, and a keeper that waits for `mutex` goes on watching.
#
# The last living user of a directory removes it, through the descriptor of its parent. Device, inode and mode must equal those of
# the journal; the time too, except for directories above a reserved name.
#
# When the input ends, the process that the keeper serves has ended. The keeper then kills the sandboxes that it watches, waits for
# their end, and removes its reserved names.
#
# Input: a line with the journal's directory in hexadecimal, the mark, the flags for directories, and numbers of system calls. Each
# further line is a request: `place`, `drop`, `sweep`, `watch` or `unwatch`, an id, and the arguments of the routine with that name.

our ($dir, $mark, %n, $flags, $readable, %watched);
$SIG{$_} = 'IGNORE' for qw(TERM INT HUP PIPE);
umask 077;
my $buffer = '';

# Returns the next line of the input; undef at its end.
sub line {
  while ($buffer !~ /\n/) { my $got = sysread(STDIN, $buffer, 65536, length $buffer); return undef unless $got }
  $buffer =~ s/^([^\n]*)\n//;
  return $1;
}

my ($directory, $own, $how, @numbers) = split / /, line() // exit 0;
$dir = pack('H*', $directory);
$mark = $own;
$flags = $how + 0;
# the flags without O_PATH
$readable = $flags & ~010000000;
%n = map { /(\w+)=(\d+)/ ? ($1, $2 + 0) : () } @numbers;

# Prints one line.
sub say_ { syswrite(STDOUT, join(' ', @_) . "\n") }

# Runs a request. Returns the answer to `place` or `drop`. The other requests print their answers themselves.
sub order {
  my ($what, $id, @rest) = split / /, $_[0];
  if ($what eq 'place') { return ('placed', $id, place($id, @rest)) }
  elsif ($what eq 'drop') { return ('dropped', $id, drop($id)) }
  elsif ($what eq 'sweep') { say_('swept', $id, locked(\&sweep)) }
  elsif ($what eq 'watch') { watch($id, @rest) }
  elsif ($what eq 'unwatch') { unwatch($id) }
}

# Runs requests. Consecutive requests for names share one lock, and one read of the journal.
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

# The process that this keeper serves has ended.
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

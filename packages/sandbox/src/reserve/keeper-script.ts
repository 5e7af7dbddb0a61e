import { entriesScript } from './entries-script.ts'
import { watchScript } from './watch-script.ts'

/**
 * The keeper: reserves names on disk and watches the mount tables of sandboxes, for all commands of one process. perl,
 * because Node has neither `renameat2` nor `flock` nor a way to wait for a change of a mount table.
 *
 * **Placeholders.** A reserved name is an empty directory (mode 0555, with a random time), made under a temporary name
 * and moved in by `RENAME_NOREPLACE`, so that it never replaces anything. Directories above it that are missing are
 * made with it (mode 0755). It stays when something is made in it, since only `rmdir` removes it. Where a program has
 * to read something at the name, the placeholder is a file with that content (mode 0444).
 *
 * **The journal** is one small file for each reserved directory and user of it, written before the directory has its
 * name, and removed after it has gone: `KIND PATH DEVICE INODE SECONDS`, the path in hexadecimal. Its name begins with
 * the mark of its keeper, whose lock file is locked while the keeper lives. All changes are made under one lock,
 * `mutex`. A keeper that only watches never takes it, and a keeper that waits for it watches on.
 *
 * A directory is removed by its last living user, through the descriptor of its parent, and only while device, inode,
 * mode and (except for directories above) time are still those of the journal.
 *
 * When its input ends, its process has ended: it kills the processes that it watches, waits for their end, and removes
 * the names that it holds.
 */
export const keeperScript = String.raw`
$SIG{$_} = 'IGNORE' for qw(TERM INT HUP PIPE); umask 077;
my ($buffer, %held, %watched, $mutex, $lock) = ('');
sub line { while ($buffer !~ /\n/) { my $n = sysread(STDIN, $buffer, 65536, length $buffer); return undef unless $n }
  $buffer =~ s/^([^\n]*)\n//; $1 }
my ($dir, $mark, %n, $flags, $readable);
{ my ($d, $m, $f, @n) = split / /, line() // exit 0; $dir = pack('H*', $d); $mark = $m; $flags = $f + 0; $readable = $flags & ~010000000;
  %n = map { /(\w+)=(\d+)/ ? ($1, $2 + 0) : () } @n }
${entriesScript}
sub say_ { syswrite(STDOUT, join(' ', @_) . "\n") }
# Two notes are of one directory: by its number alone, one that took the number of a removed one would be taken for it.
sub same { $_[0]{id} eq $_[1]{id} && $_[0]{time} == $_[1]{time} }

# The names in the journal, kept while the lock is held.
my $listed;
sub locked { my ($work) = @_; my $until = time() + 6;
  return failed('unwritable') unless $mutex || open($mutex, '>>', "$dir/mutex");
  until (flock($mutex, 6)) { return 'busy' if time() > $until; attend(0, 0.001) }
  unless ($lock) { my $own; return failed('unwritable') unless sysopen($own, "$dir/$mark.lock", 0102, 0600) && flock($own, 6); $lock = $own; sweep() }
  undef $listed; my $answer = $work->(); undef $listed; flock($mutex, 8); $answer }
sub put { my ($file, @fields) = @_; my $line = join(' ', @fields) . "\n"; sysopen(my $f, "$dir/new.$mark", 01101, 0600) or return 0;
  my $wrote = syswrite($f, $line); $! = 28 if defined $wrote && $wrote < length $line; my $e = $! + 0;
  my $ok = close($f) && defined $wrote && $wrote == length $line; $! = $e unless $ok; $ok && rename("$dir/new.$mark", "$dir/$file") }
# A file has all of its content when it gets its name, and keeps both. Where one cannot be read, for want of descriptors for
# instance, nothing is known of what others hold: $unread is the error then, and nothing is made or removed.
my (%noted, $unread);
sub journal { return @$listed if $listed; my %now; $unread = 0; my $d;
  unless (opendir($d, $dir)) { $unread = $! + 0; return () }
  for my $file (readdir $d) { next unless $file =~ /^([\w-]+)\.(\d+)$/; my $owner = $1;
    if ($noted{$file}) { $now{$file} = $noted{$file}; next }
    my $f; unless (open($f, '<', "$dir/$file")) { next if $! == 2; $unread = $! + 0; return () } my ($kind, $path, $dev, $ino, $time) = split /\s+/, <$f> // ''; close $f;
    next unless defined $path;
    $now{$file} = { file => $file, owner => $owner, kind => $kind, path => pack('H*', $path), id => defined $ino ? "$dev:$ino" : '', time => $time // 0 } }
  %noted = %now; $listed = [values %noted]; @$listed }
sub forget { my %gone = map { $_ => 1 } @_; unlink "$dir/$_" for @_; @$listed = grep { !$gone{$_->{file}} } @$listed if $listed }
my %lives;
sub lives { my ($owner) = @_; return 1 if $owner eq $mark; return $lives{$owner} if exists $lives{$owner};
  my $alive; if (open(my $f, '<', "$dir/$owner.lock")) { $alive = flock($f, 5) ? 0 : 1 } else { $alive = $! == 2 ? 0 : 1 }
  $lives{$owner} = $alive }
my $count = 0;
sub note { my ($e) = @_; my $file = "$mark." . ++$count; my ($dev, $ino) = split /:/, $e->{id};
  put($file, $e->{kind}, unpack('H*', $e->{path}), $dev, $ino, $e->{time}) or return undef;
  $noted{$file} = { %$e{qw(kind path id time)}, file => $file, owner => $mark }; push @$listed, $noted{$file} if $listed; $file }
# The note of a name that could not be removed stays, as that of a keeper that has ended: every sweep tries again.
sub leave_ { my ($file) = @_; rename("$dir/$file", "$dir/$mark-left." . ++$count); forget($file) }

sub place { my ($id, $uid, $gid, $root, $path, $content) = @_; $root = pack('H*', $root);
  $content = pack('H*', substr($content, 1)) if defined $content;
  my @names = split m{/}, pack('H*', $path); my (@chain, @spare); my @all = journal();
  return failed('unwritable', $unread) if $unread; my $fd = walk($root); return failed('changed') if $fd < 0; push @spare, $fd;
  my $at = $root eq '/' ? '' : $root;
  while (@names) { my $name = $names[0]; my $s = look($fd, $name);
    if (!$s) { return finish(failed($! == 13 ? 'forbidden' : 'changed'), \@chain, \@spare) unless $! == 2;
      my $make = sub { make($fd, $at, [@names], $uid, $gid, \@spare, $content) }; my $above = look($fd, '', 0x1000);
      my ($answer, @new) = (grep { $_->{kind} eq 'leaf' && fits($above, $_) } @all) ? inside($fd, $make) : $make->(); settle($fd, @all);
      return finish($answer, \@chain, \@spare) if $answer ne 'placed';
      push @chain, @new; last }
    my $isfile = @names == 1 && defined $content;
    return finish('changed', \@chain, \@spare) unless ($s->{mode} & 0170000) == ($isfile ? 0100000 : 0040000);
    my ($known) = grep { $_->{id} eq $s->{id} && fits($s, $_) } @all;
    return finish('changed', \@chain, \@spare) if !$known && @names == 1;
    if ($known) { my %e = (%$known, path => "$at/$name", fd => $fd, name => $name); $e{file} = note(\%e);
      return finish(failed('unwritable'), \@chain, \@spare) unless defined $e{file}; push @chain, \%e; last if $isfile }
    my $next = openat($fd, $name); return finish(failed('changed'), \@chain, \@spare) if $next < 0; push @spare, $next;
    my $there = look($next, '', 0x1000); return finish('changed', \@chain, \@spare) unless $there && $there->{id} eq $s->{id};
    $fd = $next; $at .= "/$name"; shift @names }
  my %kept = map { $_->{fd} => 1 } @chain; closefd($_) for grep { !$kept{$_} } @spare;
  $held{$id} = \@chain; "placed $chain[-1]{id}" }
sub finish { my ($answer, $chain, $spare) = @_; forget(map { $_->{file} } @$chain); closefd($_) for @$spare; $answer }

# Before a temporary name is made in a directory; for all of a group at once.
my (%intents, %untidy);
sub intend { my ($at) = @_; return 1 if $intents{$at}; my $intent = "$mark." . ++$count;
  put($intent, 'temp', unpack('H*', "$at/.ws-tmp-$mark-")) && ($intents{$at} = $intent) }
sub made { $untidy{$_} ? leave_($intents{$_}) : unlink "$dir/$intents{$_}" for keys %intents; %intents = %untidy = () }

# Each directory is made in the one above it, closed to others, and noted at once. They get their owner and mode from the
# inside out, so that no other user reaches one before the outermost has them. Only then is that moved to its name.
sub make { my ($fd, $at, $names, $uid, $gid, $spare, $content) = @_; return failed('unwritable') unless intend($at);
  my ($above, $path, @new) = ($fd, $at); my $temp = ".ws-tmp-$mark-" . int(rand(2 ** 31));
  my $undo = sub { my ($answer) = @_;
    for my $e (reverse @new) { my $s = look($e->{fd}, $e->{place}); next unless $s && $s->{id} eq $e->{id};
      removeat($e->{fd}, $e->{place}, $s) or $untidy{$at} = 1 }
    forget(map { $_->{file} // () } @new); $answer };
  for my $i (0 .. $#$names) { my $name = $names->[$i]; $path .= "/$name"; my $place = $i ? $name : $temp;
    my $isfile = $i == $#$names && defined $content;
    my ($own, $made) = $isfile ? fresh_file($above, $place, $content) : fresh($above, $place); 
    if ($own < 0) { $untidy{$at} = 1 if $made eq 'changed' || ($made =~ /^short/ && !removeat($above, $place) && $! != 2); return $undo->($made) }
    push @$spare, $own; my $e = { kind => $isfile ? 'file' : $i == $#$names ? 'leaf' : 'parent', path => $path, name => $name, place => $place,
      fd => $above, own => $own, id => $made->{id}, time => 1 + int(rand(2 ** 30)) };
    push @new, $e; $e->{file} = note($e); return $undo->(failed('unwritable')) unless defined $e->{file}; $above = $own }
  for my $e (reverse @new) { shape($e->{own}, $e, $uid, $gid) or return $undo->(failed('unsupported')) }
  if (syscall($n{renameat2}, $fd, $temp, $fd, $names->[0], 1) < 0) { return $undo->($! == 22 || $! == 38 || $! == 95 ? 'unsupported' : failed('changed')) }
  $new[0]{place} = $names->[0];
  for my $e (@new) { fits(look($e->{fd}, $e->{place}), $e) or return $undo->('changed') }
  ('placed', @new) }

sub drop { my ($id) = @_; my $chain = delete $held{$id} or return 'gone'; my @all = journal(); %lives = ();
  my %own = map { $_->{file} => 1 } @$chain; my (%closed, $left);
  for my $e (reverse @$chain) {
    my @others = grep { same($_, $e) && !$own{$_->{file}} && lives($_->{owner}) } @all;
    intend($e->{path} =~ s{/[^/]+$}{}r) if $e->{kind} eq 'file' && !@others;
    my $error = $unread ? $unread : @others || !-e "$dir/$e->{file}" ? 0 : take($e->{fd}, $e->{name}, $e, @all);
    # Above what is left, a directory is not empty. Elsewhere, something was made in it, and it stays.
    $error && ($left || ($error != 39 && $error != 17)) ? do { $left = 1; leave_($e->{file}) } : forget($e->{file}); $closed{$e->{fd}} = 1 }
  closefd($_) for keys %closed; 'gone' }

sub temporary { my ($fd, $prefix) = @_; return () unless $prefix =~ /^\.ws-tmp-/; grep { index($_, $prefix) == 0 } @{names($fd) // []} }
sub sweep { %lives = (); my @all = journal(); return 'swept 0' if $unread; my ($swept, %kept, @left) = (0);
  my @dead = sort { ($b->{kind} eq 'temp') <=> ($a->{kind} eq 'temp') || length $b->{path} <=> length $a->{path} } grep { !lives($_->{owner}) } @all;
  for my $e (@dead) { my ($above, $name) = $e->{path} =~ m{^(.*)/([^/]+)$} or next;
    my $fd = walk($above); my $error = $fd < 0 && $! != 2 && $! != 20 ? $! + 0 : 0;
    if ($fd >= 0 && $e->{kind} eq 'temp') { my %noted = map { $_->{id} => 1 } grep { $_->{owner} eq $e->{owner} } @dead;
      my $clear = sub { my $worst = 0; $worst ||= clear($fd, $_, \%noted) for temporary($fd, $name); $worst };
      $error = $clear->(); $error = inside($fd, $clear) if $error == 13; $kept{$e->{owner}} = 1 if $error }
    elsif ($fd >= 0 && !grep { same($_, $e) && lives($_->{owner}) } @all) { intend($above) if $e->{kind} eq 'file'; $error = take($fd, $name, $e, @all); $swept++ unless $error;
      $error = 0 if ($error == 39 || $error == 17) && !grep { index($_, "$e->{path}/") == 0 } @left }
    closefd($fd);
    if ($error || ($kept{$e->{owner}} && $e->{kind} ne 'temp')) { push @left, $e->{path}; leave_($e->{file}) unless $e->{owner} =~ /-left$/ } else { unlink "$dir/$e->{file}" } }
  if (opendir(my $d, $dir)) { for (readdir $d) { next unless /^([\w-]+)\.lock$/ || /^new\.([\w-]+)$/; unlink "$dir/$_" unless lives($1) } }
  made(); "swept $swept" }

sub order { my ($what, $id, @rest) = split / /, $_[0];
  if ($what eq 'place') { return ('placed', $id, place($id, @rest)) }
  elsif ($what eq 'drop') { return ('dropped', $id, drop($id)) }
  elsif ($what eq 'sweep') { say_('swept', $id, locked(\&sweep)) }
  elsif ($what eq 'watch') { watch($id, @rest) }
  elsif ($what eq 'unwatch') { changed($id) if $watched{$id}; leave($id, $watched{$id}) if $watched{$id} } }

# Names come and go in groups: one lock and one look at the journal for what has come together.
sub orders { my @lines = @_;
  while (@lines) { my (@group, @said); push @group, shift @lines while @lines && $lines[0] =~ /^(?:place|drop) /;
    my $failed = @group ? locked(sub { push @said, [order($_)] for @group; made(); '' }) : '';
    @said = map { my ($what, $id) = split / /; [$what eq 'place' ? 'placed' : 'dropped', $id, $failed] } @group if $failed ne '';
    say_(@$_) for @said;
    order(shift @lines) if @lines } }

${watchScript}
while (1) {
  my @lines; push @lines, $1 while $buffer =~ s/^([^\n]*)\n//; orders(@lines);
  if (attend(1, undef)) { my $got = sysread(STDIN, $buffer, 65536, length $buffer); last unless $got } }
end($_) for values %watched;
my $until = time() + 10;
for my $w (values %watched) { until (time() > $until) { my $in = ''; vec($in, $w->{pidfd}, 1) = 1; last if select($in, undef, undef, 0.5) > 0 } }
if (%held) { locked(sub { drop($_); made(); '' }) for keys %held }
unlink "$dir/$mark.lock" if $lock;
`

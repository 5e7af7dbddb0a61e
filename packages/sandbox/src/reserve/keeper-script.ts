/**
 * The keeper: reserves names on disk and watches the mount tables of sandboxes, for all commands of one process. perl,
 * because Node has neither `renameat2` nor `flock` nor a way to wait for a change of a mount table.
 *
 * **Placeholders.** A reserved name is an empty directory (mode 0555, with a random time), made under a temporary name and
 * moved in by `RENAME_NOREPLACE`, so that it never replaces anything. Directories above it that are missing are made with
 * it (mode 0755). It stays when something is made in it, since only `rmdir` removes it.
 *
 * **The journal** is one small file for each reserved directory and user of it, written before the directory has its
 * name, and removed after it has gone: `KIND PATH DEVICE INODE SECONDS`, the path in hexadecimal. Its name begins with the mark of
 * its keeper, whose lock file is locked while the keeper lives. All changes are made under one lock, `mutex`. A keeper
 * that only watches never takes it, and one that waits for it watches on.
 *
 * A directory is removed by its last living user, through the descriptor of its parent, and only while device, inode,
 * mode and (but for those above) time are still those of the journal.
 *
 * When its input ends, its process has: it kills what it watches, waits for the end of that, and removes what it holds.
 */
export const keeperScript = String.raw`
$SIG{$_} = 'IGNORE' for qw(TERM INT HUP PIPE); umask 077;
my ($buffer, %held, %watched, $mutex, $lock) = ('');
sub line { while ($buffer !~ /\n/) { my $n = sysread(STDIN, $buffer, 65536, length $buffer); return undef unless $n }
  $buffer =~ s/^([^\n]*)\n//; $1 }
my ($dir, $mark, %n, $flags);
{ my ($d, $m, $f, @n) = split / /, line() // exit 0; $dir = pack('H*', $d); $mark = $m; $flags = $f + 0;
  %n = map { /(\w+)=(\d+)/ ? ($1, $2 + 0) : () } @n }
sub say_ { syswrite(STDOUT, join(' ', @_) . "\n") }
sub through { my ($fd, $name) = @_; "/proc/self/fd/$fd/$name" }
sub openat { my ($fd, $name) = @_; syscall($n{openat}, $fd, $name, $flags, 0) }
sub closefd { syscall($n{close}, $_[0]) if $_[0] >= 0 }
sub look { my ($fd, $name, $how) = @_; my $b = "\0" x 256;
  return undef if syscall($n{statx}, $fd, $name, $how // 0x100, 0x7ff, $b) < 0;
  my ($major, $minor) = unpack('LL', substr($b, 136, 8)); my ($s, $ns) = unpack('qL', substr($b, 112, 12));
  my $dev = (($major & 0xfffff000) << 32) | (($major & 0xfff) << 8) | (($minor & 0xffffff00) << 12) | ($minor & 0xff);
  { mode => unpack('S', substr($b, 28, 2)), id => $dev . ':' . unpack('Q', substr($b, 32, 8)), time => $s, ns => $ns } }
sub fits { my ($s, $e) = @_; return 0 unless $s && $s->{id} eq $e->{id};
  return $s->{mode} == 040755 if $e->{kind} eq 'parent';
  $s->{mode} == 040555 && $s->{time} == $e->{time} && $s->{ns} == 0 }
# Two notes are of one directory: by its number alone, one that took the number of a removed one would be taken for it.
sub same { $_[0]{id} eq $_[1]{id} && $_[0]{time} == $_[1]{time} }

# The names in the journal, kept while the lock is held.
my $listed;
sub locked { my ($work) = @_; my $until = time() + 6;
  return 'unwritable' unless $dir ne '' && ($mutex || open($mutex, '>>', "$dir/mutex"));
  until (flock($mutex, 6)) { return 'busy' if time() > $until; attend(0, 0.001) }
  unless ($lock) { my $own; return 'unwritable' unless sysopen($own, "$dir/$mark.lock", 0102, 0600) && flock($own, 6); $lock = $own; sweep() }
  undef $listed; my $answer = $work->(); undef $listed; flock($mutex, 8); $answer }
sub put { my ($file, @fields) = @_; my $line = join(' ', @fields) . "\n"; sysopen(my $f, "$dir/new.$mark", 01101, 0600) or return 0;
  my $ok = (syswrite($f, $line) // 0) == length $line; $ok = close($f) && $ok; $ok && rename("$dir/new.$mark", "$dir/$file") }
# A file has all of its content when it gets its name, and keeps both.
my %noted;
sub journal { return @$listed if $listed; my %now; opendir(my $d, $dir) or return ();
  for my $file (readdir $d) { next unless $file =~ /^([\w-]+)\.(\d+)$/; my $owner = $1;
    if ($noted{$file}) { $now{$file} = $noted{$file}; next }
    open(my $f, '<', "$dir/$file") or next; my ($kind, $path, $dev, $ino, $time) = split /\s+/, <$f> // ''; close $f;
    next unless defined $path;
    $now{$file} = { file => $file, owner => $owner, kind => $kind, path => pack('H*', $path), id => defined $ino ? "$dev:$ino" : '', time => $time // 0 } }
  %noted = %now; $listed = [values %noted]; @$listed }
sub forget { my %gone = map { $_ => 1 } @_; unlink "$dir/$_" for @_; @$listed = grep { !$gone{$_->{file}} } @$listed if $listed }
my %lives;
sub lives { my ($owner) = @_; return 1 if $owner eq $mark; return $lives{$owner} if exists $lives{$owner};
  my $alive = 0; if (open(my $f, '<', "$dir/$owner.lock")) { $alive = flock($f, 5) ? 0 : 1 }
  $lives{$owner} = $alive }
my $count = 0;
sub note { my ($e) = @_; my $file = "$mark." . ++$count; my ($dev, $ino) = split /:/, $e->{id};
  put($file, $e->{kind}, unpack('H*', $e->{path}), $dev, $ino, $e->{time}) or return undef;
  $noted{$file} = { %$e{qw(kind path id time)}, file => $file, owner => $mark }; push @$listed, $noted{$file} if $listed; $file }
# An entry that is made in a placeholder, or taken from it, changes its time.
sub settle { my ($fd, @all) = @_; my $s = look($fd, '', 0x1000) or return;
  for my $e (@all) { next unless $e->{kind} eq 'leaf' && $e->{id} eq $s->{id}; utime($e->{time}, $e->{time}, through($fd, '.')); return } }
# A placeholder has mode 0555, which keeps its own user from making or removing names in it: not so while this is done.
sub inside { my ($fd, $all, $work) = @_; my $s = $> == 0 ? undef : look($fd, '', 0x1000);
  my $closed = $s && grep { $_->{kind} eq 'leaf' && fits($s, $_) } @$all; chmod(0755, through($fd, '.')) if $closed;
  my @answer = $work->(); chmod(0555, through($fd, '.')) if $closed; wantarray ? @answer : $answer[0] }
sub prune { my ($path) = @_; if (opendir(my $d, $path)) { for (readdir $d) { next if $_ eq '.' || $_ eq '..'; prune("$path/$_") if !-l "$path/$_" && -d _ } }
  rmdir $path }

sub place { my ($id, $uid, $gid, $root, $path) = @_; $root = pack('H*', $root);
  my @names = split m{/}, pack('H*', $path); my (@chain, @spare); my @all = journal();
  my $fd = syscall($n{openat}, -100, $root, $flags, 0); return 'changed' if $fd < 0; push @spare, $fd;
  return finish('changed', \@chain, \@spare) unless (readlink("/proc/self/fd/$fd") // '') eq $root;
  my $at = $root eq '/' ? '' : $root; my $made = 0;
  while (@names) { my $name = $names[0]; my $s = look($fd, $name);
    if (!$s) { return finish($! == 13 ? 'forbidden' : 'changed', \@chain, \@spare) unless $! == 2;
      my ($answer, @new) = inside($fd, \@all, sub { make($fd, $at, [@names], $uid, $gid, \@spare) }); settle($fd, @all);
      return finish($answer, \@chain, \@spare) if $answer ne 'placed';
      push @chain, @new; last }
    return finish('changed', \@chain, \@spare) unless ($s->{mode} & 0170000) == 0040000;
    my ($known) = grep { $_->{id} eq $s->{id} && fits($s, $_) } @all;
    return finish('changed', \@chain, \@spare) if !$known && @names == 1;
    if ($known) { my %e = (%$known, path => "$at/$name", fd => $fd, name => $name); $e{file} = note(\%e);
      return finish('unwritable', \@chain, \@spare) unless defined $e{file}; push @chain, \%e }
    my $next = openat($fd, $name); return finish('changed', \@chain, \@spare) if $next < 0; push @spare, $next;
    my $there = look($next, '', 0x1000); return finish('changed', \@chain, \@spare) unless $there && $there->{id} eq $s->{id};
    $fd = $next; $at .= "/$name"; shift @names }
  my %kept = map { $_->{fd} => 1 } @chain; closefd($_) for grep { !$kept{$_} } @spare;
  $held{$id} = \@chain; "placed $chain[-1]{id}" }
sub finish { my ($answer, $chain, $spare) = @_; forget(map { $_->{file} } @$chain); closefd($_) for @$spare; $answer }

# Before a temporary name is made in a directory; for all of a group at once.
my %intents;
sub intend { my ($at) = @_; return 1 if $intents{$at}; my $intent = "$mark." . ++$count;
  put($intent, 'temp', unpack('H*', "$at/.ws-tmp-$mark-")) && ($intents{$at} = $intent) }
sub made { unlink "$dir/$_" for values %intents; %intents = () }

sub make { my ($fd, $at, $names, $uid, $gid, $spare) = @_; my @names = @$names;
  my $temp = ".ws-tmp-$mark-" . int(rand(2 ** 31)); return 'unwritable' unless intend($at);
  my $base = through($fd, $temp); my $undo = sub { my ($answer) = @_; prune($base); forget(@_[1 .. $#_]); $answer };
  my @paths = ($base); my $virtual = "$at/$names[0]"; my @virtual = ($virtual);
  for (@names[1 .. $#names]) { push @paths, "$paths[-1]/$_"; push @virtual, "$virtual[-1]/$_" }
  for (@paths) { mkdir($_, 0755) or return $undo->($! == 13 || $! == 1 || $! == 30 ? 'forbidden' : $! == 28 || $! == 122 ? 'full' : 'changed');
    if ($> == 0 && $uid >= 0) { chown($uid + 0, $gid + 0, $_) or return $undo->('forbidden') } }
  my @new;
  for my $i (reverse 0 .. $#paths) { my $time = 1 + int(rand(2 ** 30)); my $leaf = $i == $#paths;
    chmod($leaf ? 0555 : 0755, $paths[$i]); utime($time, $time, $paths[$i]);
    my $s = look(-100, $paths[$i]) or return $undo->('changed');
    unshift @new, { kind => $leaf ? 'leaf' : 'parent', path => $virtual[$i], name => $names[$i], id => $s->{id}, time => $s->{time} };
    return $undo->('unsupported') unless fits($s, $new[0]) }
  for my $e (@new) { $e->{file} = note($e); return $undo->('unwritable', map { $_->{file} // () } @new) unless defined $e->{file} }
  if (syscall($n{renameat2}, $fd, $temp, $fd, $names[0], 1) < 0) {
    return $undo->($! == 17 ? 'changed' : 'unsupported', map { $_->{file} } @new) }
  for my $e (@new) { $e->{fd} = $fd; next if $e->{kind} eq 'leaf'; $fd = openat($fd, $e->{name}); push @$spare, $fd if $fd >= 0 }
  ('placed', @new) }

sub drop { my ($id) = @_; my $chain = delete $held{$id} or return 'gone'; my @all = journal(); %lives = ();
  my %own = map { $_->{file} => 1 } @$chain; my %closed;
  for my $e (reverse @$chain) {
    my @others = grep { same($_, $e) && !$own{$_->{file}} && lives($_->{owner}) } @all;
    if (!@others && -e "$dir/$e->{file}" && fits(look($e->{fd}, $e->{name}), $e) && inside($e->{fd}, \@all, sub { rmdir(through($e->{fd}, $e->{name})) })) { settle($e->{fd}, @all) }
    forget($e->{file}); $closed{$e->{fd}} = 1 }
  closefd($_) for keys %closed; 'gone' }

sub temporary { my ($fd, $prefix) = @_; return () unless $prefix =~ /^\.ws-tmp-/ && opendir(my $d, through($fd, '.'));
  grep { index($_, $prefix) == 0 && !-l through($fd, $_) } readdir $d }
sub sweep { %lives = (); my @all = journal(); my $swept = 0;
  my @dead = sort { length $b->{path} <=> length $a->{path} } grep { !lives($_->{owner}) } @all;
  for my $e (@dead) { my ($above, $name) = $e->{path} =~ m{^(.*)/([^/]+)$} or next; $above = '/' if $above eq '';
    my $fd = syscall($n{openat}, -100, $above, $flags, 0);
    if ($fd >= 0) {
      if ((readlink("/proc/self/fd/$fd") // '') eq $above) {
        if ($e->{kind} eq 'temp') { inside($fd, \@all, sub { prune(through($fd, $_)) for temporary($fd, $name) }) }
        elsif (!(grep { same($_, $e) && lives($_->{owner}) } @all) && fits(look($fd, $name), $e)) {
          $swept++ if inside($fd, \@all, sub { rmdir(through($fd, $name)) }); settle($fd, @all) } }
      closefd($fd) }
    unlink "$dir/$e->{file}" }
  if (opendir(my $d, $dir)) { for (readdir $d) { next unless /^([\w-]+)\.lock$/ || /^new\.([\w-]+)$/; unlink "$dir/$_" unless lives($1) } }
  "swept $swept" }

sub table { my ($w) = @_; sysseek($w->{fh}, 0, 0); my ($text, $chunk) = ('', ''); $text .= $chunk while sysread($w->{fh}, $chunk, 65536);
  my %points; for (split /\n/, $text) { my ($id, undef, undef, undef, $point) = split / /; next unless defined $point;
    $point =~ s/\\([0-7]{3})/chr oct $1/ge; $points{$id} = $point } \%points }
sub watch { my ($id, $pid, $start, @wanted) = @_; @wanted = map { pack('H*', $_) } @wanted;
  my $pidfd = syscall($n{pidfd_open}, $pid + 0, 0); return say_('ended', $id) if $pidfd < 0;
  my $w = { pidfd => $pidfd, wanted => \@wanted, ids => {} };
  open(my $f, '<', "/proc/$pid/stat") or return leave($id, $w); my $stat = <$f> // ''; close $f;
  $stat =~ s/^.*\) //s; return leave($id, $w) unless ((split / /, $stat)[19] // '') eq $start;
  sysopen($w->{fh}, "/proc/$pid/mountinfo", 0) or return leave($id, $w);
  my $points = table($w); my %at; $at{$points->{$_}} = $_ for sort { $a <=> $b } keys %$points;
  for my $i (0 .. $#wanted) { return lost($id, $w, $i) unless exists $at{$wanted[$i]}; $w->{ids}{$at{$wanted[$i]}} = $i }
  $watched{$id} = $w }
sub leave { my ($id, $w) = @_; closefd($w->{pidfd}); close $w->{fh} if $w->{fh}; delete $watched{$id}; say_('ended', $id) }
sub lost { my ($id, $w, $i) = @_; end($w); closefd($w->{pidfd}); close $w->{fh}; delete $watched{$id}; say_('lost', $id, $i) }
sub end { my ($w) = @_; syscall($n{pidfd_send_signal}, $w->{pidfd}, 9, 0, 0) }
sub changed { my ($id) = @_; my $w = $watched{$id}; my $points = table($w);
  for my $mount (keys %{$w->{ids}}) { my $i = $w->{ids}{$mount};
    return lost($id, $w, $i) unless defined $points->{$mount} && $points->{$mount} eq $w->{wanted}[$i] } }

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

# Waits for a change of what is watched, or for so many seconds. True when there is something to read.
sub attend { my ($read, $seconds) = @_; my ($in, $changes) = ('', ''); vec($in, 0, 1) = 1 if $read;
  vec($changes, fileno($watched{$_}{fh}), 1) = 1 for keys %watched;
  return 0 if select($in, undef, $changes, $seconds) < 0;
  for (keys %watched) { changed($_) if vec($changes, fileno($watched{$_}{fh}), 1) }
  $read && vec($in, 0, 1) }

while (1) {
  my @lines; push @lines, $1 while $buffer =~ s/^([^\n]*)\n//; orders(@lines);
  if (attend(1, undef)) { my $got = sysread(STDIN, $buffer, 65536, length $buffer); last unless $got } }
end($_) for values %watched;
my $until = time() + 10;
for my $w (values %watched) { until (time() > $until) { my $in = ''; vec($in, $w->{pidfd}, 1) = 1; last if select($in, undef, undef, 0.5) > 0 } }
if (%held) { locked(sub { drop($_) }) for keys %held }
unlink "$dir/$mark.lock" if $lock;
`

# The journal of the keeper: see keeper.pl.
#
# A note is a hash: file, owner (the mark of its keeper), kind, path, id (device and inode), time (seconds).

our ($dir, $mark, $unread);
my ($mutex, $lock, $listed, %noted, %lives, $count);

# Returns whether two notes are about one entry. Compares the times too, because a new entry can get the inode of a removed one.
sub same { my ($one, $other) = @_; return $one->{id} eq $other->{id} && $one->{time} == $other->{time} }

# Runs work under the lock, and returns its answer. `busy`: another keeper kept the lock for six seconds. Reads the notes once.
sub locked {
  my ($work) = @_;
  my $until = time() + 6;
  return failed('unwritable') unless $mutex || open($mutex, '>>', "$dir/mutex");
  until (flock($mutex, 6)) { return 'busy' if time() > $until; attend(0, 0.001) }
  unless ($lock) {
    my $own;
    return failed('unwritable') unless sysopen($own, "$dir/$mark.lock", 0102, 0600) && flock($own, 6);
    $lock = $own;
    sweep();
  }
  undef $listed;
  my $answer = $work->();
  undef $listed;
  flock($mutex, 8);
  return $answer;
}

# Writes a file of the journal. The file gets its name when its content is complete.
sub put {
  my ($file, @fields) = @_;
  my $line = join(' ', @fields) . "\n";
  sysopen(my $f, "$dir/new.$mark", 01101, 0600) or return 0;
  my $wrote = syswrite($f, $line);
  $! = 28 if defined $wrote && $wrote < length $line;
  my $e = $! + 0;
  my $ok = close($f) && defined $wrote && $wrote == length $line;
  $! = $e unless $ok;
  return $ok && rename("$dir/new.$mark", "$dir/$file");
}

# Returns all notes. A file with its final name is complete and does not change. If a file cannot be read, for example because no
# descriptors are left, the notes of other keepers are unknown: $unread is the error, and callers create and remove no entry.
sub journal {
  return @$listed if $listed;
  my %now;
  $unread = 0;
  my $d;
  unless (opendir($d, $dir)) { $unread = $! + 0; return () }
  for my $file (readdir $d) {
    next unless $file =~ /^([\w-]+)\.(\d+)$/;
    my $owner = $1;
    if ($noted{$file}) { $now{$file} = $noted{$file}; next }
    my $f;
    unless (open($f, '<', "$dir/$file")) { next if $! == 2; $unread = $! + 0; return () }
    $! = 0;
    my $line = <$f>;
    if (!defined $line && $!) { $unread = $! + 0; return () }
    close $f;
    my ($kind, $path, $dev, $ino, $time) = split /\s+/, $line // '';
    next unless defined $path;
    my $id = defined $ino ? "$dev:$ino" : '';
    $now{$file} =
      { file => $file, owner => $owner, kind => $kind, path => pack('H*', $path), id => $id, time => $time // 0 };
  }
  %noted = %now;
  $listed = [values %noted];
  return @$listed;
}

# Removes notes.
sub forget {
  my %gone = map { $_ => 1 } @_;
  unlink "$dir/$_" for @_;
  @$listed = grep { !$gone{$_->{file}} } @$listed if $listed;
}

# Returns whether a keeper lives: its lock is then taken. If this cannot be checked, the keeper counts as living.
sub lives {
  my ($owner) = @_;
  return 1 if $owner eq $mark;
  return $lives{$owner} if exists $lives{$owner};
  my $alive;
  if (open(my $f, '<', "$dir/$owner.lock")) { $alive = flock($f, 5) ? 0 : 1 }
  else { $alive = $! == 2 ? 0 : 1 }
  return $lives{$owner} = $alive;
}

# Drops the cached results of `lives`.
sub look_again { %lives = () }

sub next_file { return "$mark." . ++$count }

# Writes the note of an entry. Returns the name of the note's file.
sub note {
  my ($e) = @_;
  my $file = next_file();
  my ($dev, $ino) = split /:/, $e->{id};
  put($file, $e->{kind}, unpack('H*', $e->{path}), $dev, $ino, $e->{time}) or return undef;
  $noted{$file} = { %$e{qw(kind path id time)}, file => $file, owner => $mark };
  push @$listed, $noted{$file} if $listed;
  return $file;
}

# Keeps the note of a name that could not be removed, under the mark of a keeper that has ended: every sweep then tries again.
sub leave_note { my ($file) = @_; rename("$dir/$file", "$dir/$mark-left." . ++$count); forget($file) }

# Removes the lock files and unfinished files of keepers that have ended.
sub sweep_marks {
  opendir(my $d, $dir) or return;
  for (readdir $d) { next unless /^([\w-]+)\.lock$/ || /^new\.([\w-]+)$/; unlink "$dir/$_" unless lives($1) }
}

# Removes the lock file of this keeper.
sub end_journal { unlink "$dir/$mark.lock" if $lock }

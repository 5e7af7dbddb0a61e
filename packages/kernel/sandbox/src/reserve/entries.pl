# The part of the keeper that changes the workspace's disk: see keeper.pl. A command can replace any name there at any time, and the
# keeper has more rights than the command. So each change uses descriptors:
#
# - The keeper opens a directory one component at a time, and follows no link.
# - The keeper opens a created entry at once, without following links. The entry must be new: empty, of this user, closed to others, on
#   the file system of its parent, and not older than the call that created it. Its descriptor is used to set mode, owner and time.
# - The keeper removes an empty directory with `unlinkat`, by its name in its open parent. This follows no link and deletes no data.
#   It renames a file to a temporary name first, and removes it only if it is still the same file. A file of another program gets its
#   name back.
#
# An entry is a hash: kind (`leaf`, `file` or `parent`), id (device and inode), time (seconds), and further fields of places.pl. A
# status is a hash that `look` returns.

our (%n, $mark, $flags, $readable);

# Returns a path to exactly this directory, whatever its name is. Needs no right in the directory.
sub self { return "/proc/self/fd/$_[0]" }
sub openat { my ($fd, $name, $how) = @_; return syscall($n{openat}, $fd, $name, $how // $flags, 0) }
sub closefd { syscall($n{close}, $_[0]) if $_[0] >= 0 }
sub is_file { return ($_[0]{mode} & 0170000) == 0100000 }
sub is_directory { return ($_[0]{mode} & 0170000) == 0040000 }

# Removes an empty directory, or the file with the given status, after renaming it to a private name. False: failed, see $!.
sub removeat {
  my ($fd, $name, $s) = @_;
  return syscall($n{unlinkat}, $fd, $name, 0x200) >= 0 unless $s && is_file($s);
  my $aside = ".ws-tmp-$mark-" . int(rand(2**31));
  return 0 if syscall($n{renameat2}, $fd, $name, $fd, $aside, 1) < 0;
  my $now = look($fd, $aside);
  return syscall($n{unlinkat}, $fd, $aside, 0) >= 0 if $now && $now->{id} eq $s->{id};
  # a file of another program: it gets its name back, or a free name
  my $saved = "$name.saved-" . int(rand(2**31));
  syscall($n{renameat2}, $fd, $aside, $fd, $name, 1) < 0 && syscall($n{renameat2}, $fd, $aside, $fd, $saved, 1);
  $! = 2;
  return 0;
}

# Returns the status of an entry, without following a link. With 0x1000 (AT_EMPTY_PATH): the status of the descriptor itself.
sub look {
  my ($fd, $name, $how) = @_;
  my $b = "\0" x 256;
  return undef if syscall($n{statx}, $fd, $name, $how // 0x100, 0xfff, $b) < 0;
  my ($major, $minor) = unpack('LL', substr($b, 136, 8));
  my ($s, $ns) = unpack('qL', substr($b, 112, 12));
  my ($changed, $rest) = unpack('qL', substr($b, 96, 12));
  my $dev = (($major & 0xfffff000) << 32) | (($major & 0xfff) << 8) | (($minor & 0xffffff00) << 12) | ($minor & 0xff);
  my %status = (
    mode => unpack('S', substr($b, 28, 2)),
    uid => unpack('L', substr($b, 20, 4)),
    links => unpack('L', substr($b, 16, 4)),
    changed => $changed * 1_000_000 + int($rest / 1000),
    dev => $dev,
    id => $dev . ':' . unpack('Q', substr($b, 32, 8)),
    time => $s,
    ns => $ns,
    born => unpack('L', $b) & 0x800 ? [unpack('qL', substr($b, 80, 12))] : undef,
  );
  return \%status;
}

# Returns whether the status belongs to the entry, and the entry is unchanged.
sub fits {
  my ($s, $e) = @_;
  return 0 unless $s && $s->{id} eq $e->{id};
  return $s->{mode} == 040755 if $e->{kind} eq 'parent';
  my $mode = $e->{kind} eq 'file' ? 0100444 : 040555;
  return $s->{mode} == $mode && $s->{time} == $e->{time} && $s->{ns} == 0;
}

sub names {
  my ($fd) = @_;
  opendir(my $d, self($fd)) or return undef;
  return [grep { $_ ne '.' && $_ ne '..' } readdir $d];
}

# Opens a directory by its canonical path. Follows no link.
sub walk {
  my ($path) = @_;
  my $slash = '/';
  my $fd = openat(-100, $slash);
  for my $name (grep { $_ ne '' } split m{/}, $path) {
    my $next = openat($fd, $name);
    my $e = $! + 0;
    closefd($fd);
    if ($next < 0) { $! = $e; return -1 }
    $fd = $next;
  }
  return $fd;
}

# Returns the answer to a failure. For a shortage (memory, descriptors, space, quota), the answer contains the error number.
sub failed {
  my ($answer, $e) = @_;
  $e //= $! + 0;
  return (grep { $e == $_ } 12, 23, 24, 28, 122) ? "short $e" : $answer;
}

sub refused { my ($e) = @_; return $e == 13 || $e == 1 ? 'forbidden' : $e == 30 ? 'sealed' : failed('changed', $e) }

# Creates a directory, closed to others. Returns its descriptor and status, or -1 and the reason.
sub fresh {
  my ($fd, $name) = @_;
  my $above = look($fd, '', 0x1000) or return (-1, 'changed');
  my $now = "\0" x 16;
  syscall($n{clock_gettime}, 5, $now);
  my ($s, $ns) = unpack('qq', $now);
  return (-1, refused($! + 0)) if syscall($n{mkdirat}, $fd, $name, 0700) < 0;
  my $own = openat($fd, $name, $readable);
  return (-1, failed('changed')) if $own < 0;
  my $made = look($own, '', 0x1000);
  my $in = names($own);
  my $e = $in ? 0 : $! + 0;
  my $born = $made && $made->{born};
  my $is_new = !$born || $born->[0] > $s || ($born->[0] == $s && $born->[1] >= $ns);
  return ($own, $made)
    if $made
    && $in
    && !@$in
    && ($made->{mode} & ~02700) == 040000
    && $made->{uid} == $>
    && $made->{dev} == $above->{dev}
    && $is_new;
  closefd($own);
  return (-1, failed('changed', $e));
}

# Creates a file with its content. One call creates and opens it, so it is certainly new. Returns the same as `fresh`.
sub fresh_file {
  my ($fd, $name, $content) = @_;
  my $own = syscall($n{openat}, $fd, $name, 02000302, 0600);
  return (-1, refused($! + 0)) if $own < 0;
  my $made = look($own, '', 0x1000);
  my $done = $made && open(my $out, '>&', $own);
  $done &&= (syswrite($out, $content) // -1) == length $content;
  my $e = $! + 0;
  close($out) if $out;
  return ($own, $made) if $done;
  removeat($fd, $name, $made) if $made;
  closefd($own);
  return (-1, $made ? refused($e) : 'changed');
}

# Sets mode, time and owner through the descriptor of an entry. Returns whether they are set. A file remains this user's, so that no
# command can change it.
sub shape {
  my ($own, $e, $uid, $gid) = @_;
  my $mode = { leaf => 0555, file => 0444 }->{ $e->{kind} } // 0755;
  my $times = pack('qqqq', $e->{time}, 0, $e->{time}, 0);
  return 0 if syscall($n{fchmod}, $own, $mode) < 0 || syscall($n{utimensat}, $own, 0, $times, 0) < 0;
  return 0 if $> == 0 && $uid >= 0 && $e->{kind} ne 'file' && syscall($n{fchown}, $own, $uid + 0, $gid + 0) < 0;
  return fits(look($own, '', 0x1000), $e);
}

# Restores the time of a placeholder, which changed when an entry in it was created or removed.
sub settle {
  my ($fd, @all) = @_;
  my $s = look($fd, '', 0x1000) or return;
  for my $e (@all) {
    next unless $e->{kind} eq 'leaf' && $e->{id} eq $s->{id};
    utime($e->{time}, $e->{time}, self($fd));
    return;
  }
}

# Runs work in a directory. If the mode forbids even its own user to create or remove names there, changes the mode during the work.
sub inside {
  my ($fd, $work) = @_;
  my $s = $> == 0 ? undef : look($fd, '', 0x1000);
  my $closed = $s && $s->{uid} == $> && ($s->{mode} & 0300) != 0300;
  chmod($s->{mode} & 07777 | 0700, self($fd)) if $closed;
  my @answer = $work->();
  chmod($s->{mode} & 07777, self($fd)) if $closed;
  return wantarray ? @answer : $answer[0];
}

# Removes a reserved entry. Returns 0 if the entry is gone or belongs to another program, else the number of the error.
sub take {
  my ($fd, $name, $e, @all) = @_;
  my $try = sub {
    my $s = look($fd, $name);
    return $! == 2 || $! == 20 ? 0 : $! + 0 unless $s;
    return 0 unless fits($s, $e); # @defence a user's file or directory taken for a reserved name: never remove what
    return $! == 2 ? 0 : $! + 0 unless removeat($fd, $name, $s);
    settle($fd, @all);
    return 0;
  };
  my $error = $try->();
  return $error == 13 ? inside($fd, $try) : $error; # @defence ` == 13 ? inside($fd, $try) : $error` a reserved name that a command keeps from being removed
}

# Removes a temporary name that is left from a creation or a removal: an empty directory or a noted file. Enters noted directories.
# Returns the same as `take`.
sub clear {
  my ($fd, $name, $noted) = @_;
  my $s = look($fd, $name);
  return $! == 2 ? 0 : $! + 0 unless $s;
  if (is_file($s)) { return $noted->{ $s->{id} } && syscall($n{unlinkat}, $fd, $name, 0) < 0 && $! != 2 ? $! + 0 : 0 }
  return 0 unless is_directory($s);
  return 0 if removeat($fd, $name);
  my $error = $! + 0;
  return $error unless $error == 39 || $error == 17;
  return 0 unless $noted->{ $s->{id} };
  my $own = openat($fd, $name, $readable);
  return $! == 2 || $! == 20 ? 0 : $! + 0 if $own < 0;
  my $there = look($own, '', 0x1000);
  my $in = $there && $there->{id} eq $s->{id} ? names($own) : [];
  $error = $in ? 0 : $! + 0;
  clear($own, $_, $noted) for @{ $in // [] };
  closefd($own);
  return $error if $error;
  return removeat($fd, $name) || $! == 39 || $! == 17 || $! == 2 ? 0 : $! + 0;
}

# The part of the keeper that changes the workspace's disk: see keeper.pl. A command can exchange every name there at any moment,
# and the keeper has more rights than it. So each act goes by a descriptor:
#
# - A directory is reached one component after the other, none of which may be a link.
# - What is made is opened at once without following, and must be new: empty, of this user, closed to others, on the file system of
#   its parent, and not older than the call that made it. Mode, owner and time are set through that descriptor.
# - A directory is removed by its name in its open parent, and by `unlinkat` for empty directories: it follows nothing and deletes
#   no data. A file gets a temporary name first. It is removed only if it is still the very same file. A file of another program
#   that had taken its name gets that name back.
#
# An entry is a hash: kind (`leaf`, `file` or `parent`), id (device and inode), time (seconds), and what keeper.pl notes of it. A
# status is a hash of `look`.

our (%n, $mark, $flags, $readable);

# Leads to the very directory, under any name, and needs no right in it.
sub self { return "/proc/self/fd/$_[0]" }
sub openat { my ($fd, $name, $how) = @_; return syscall($n{openat}, $fd, $name, $how // $flags, 0) }
sub closefd { syscall($n{close}, $_[0]) if $_[0] >= 0 }
sub is_file { return ($_[0]{mode} & 0170000) == 0100000 }
sub is_directory { return ($_[0]{mode} & 0170000) == 0040000 }

# Removes an empty directory, or the file of the status: by a name that no other process uses. False: see $!.
sub removeat {
  my ($fd, $name, $s) = @_;
  return syscall($n{unlinkat}, $fd, $name, 0x200) >= 0 unless $s && is_file($s);
  my $aside = ".ws-tmp-$mark-" . int(rand(2**31));
  return 0 if syscall($n{renameat2}, $fd, $name, $fd, $aside, 1) < 0;
  my $now = look($fd, $aside);
  return syscall($n{unlinkat}, $fd, $aside, 0) >= 0 if $now && $now->{id} eq $s->{id};
  # another program's file: it gets its name back, or one that is free
  my $saved = "$name.saved-" . int(rand(2**31));
  syscall($n{renameat2}, $fd, $aside, $fd, $name, 1) < 0 && syscall($n{renameat2}, $fd, $aside, $fd, $saved, 1);
  $! = 2;
  return 0;
}

# The status of an entry, without following a link; with 0x1000 (AT_EMPTY_PATH) of the descriptor itself.
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

# The status is that of the entry, and nothing has changed it.
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

# A directory by its canonical path: through no link.
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

# The answer to a failure by its error. A shortage (memory, descriptors, space, quota) is named.
sub failed {
  my ($answer, $e) = @_;
  $e //= $! + 0;
  return (grep { $e == $_ } 12, 23, 24, 28, 122) ? "short $e" : $answer;
}

sub refused { my ($e) = @_; return $e == 13 || $e == 1 ? 'forbidden' : $e == 30 ? 'sealed' : failed('changed', $e) }

# Makes a directory, closed to others. The answer is its descriptor and status, or -1 and why not.
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

# Makes a file with its content: new, since it is opened by the call that makes it. The answer is that of `fresh`.
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

# Sets mode, time and owner through its own descriptor. True when it is as it was to be. A file stays this user's: no command
# changes it.
sub shape {
  my ($own, $e, $uid, $gid) = @_;
  my $mode = { leaf => 0555, file => 0444 }->{ $e->{kind} } // 0755;
  my $times = pack('qqqq', $e->{time}, 0, $e->{time}, 0);
  return 0 if syscall($n{fchmod}, $own, $mode) < 0 || syscall($n{utimensat}, $own, 0, $times, 0) < 0;
  return 0 if $> == 0 && $uid >= 0 && $e->{kind} ne 'file' && syscall($n{fchown}, $own, $uid + 0, $gid + 0) < 0;
  return fits(look($own, '', 0x1000), $e);
}

# An entry that is made in a placeholder, or taken from it, changes its time: it gets that of its note again.
sub settle {
  my ($fd, @all) = @_;
  my $s = look($fd, '', 0x1000) or return;
  for my $e (@all) {
    next unless $e->{kind} eq 'leaf' && $e->{id} eq $s->{id};
    utime($e->{time}, $e->{time}, self($fd));
    return;
  }
}

# A mode can keep even its own user from making or removing names in a directory: not so while this is done.
sub inside {
  my ($fd, $work) = @_;
  my $s = $> == 0 ? undef : look($fd, '', 0x1000);
  my $closed = $s && $s->{uid} == $> && ($s->{mode} & 0300) != 0300;
  chmod($s->{mode} & 07777 | 0700, self($fd)) if $closed;
  my @answer = $work->();
  chmod($s->{mode} & 07777, self($fd)) if $closed;
  return wantarray ? @answer : $answer[0];
}

# Removes what was reserved. The answer is 0 where it is gone or is another's, else the number of the error.
sub take {
  my ($fd, $name, $e, @all) = @_;
  my $try = sub {
    my $s = look($fd, $name);
    return $! == 2 || $! == 20 ? 0 : $! + 0 unless $s;
    return 0 unless fits($s, $e);
    return $! == 2 ? 0 : $! + 0 unless removeat($fd, $name, $s);
    settle($fd, @all);
    return 0;
  };
  my $error = $try->();
  return $error == 13 ? inside($fd, $try) : $error;
}

# Removes what was being made, or removed, under a temporary name: empty directories and noted files. Noted directories are
# entered. The answer is that of `take`.
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
  return 0 if $own < 0;
  my $there = look($own, '', 0x1000);
  if ($there && $there->{id} eq $s->{id}) { my $in = names($own) // []; clear($own, $_, $noted) for @$in }
  closefd($own);
  return removeat($fd, $name) || $! == 39 || $! == 17 || $! == 2 ? 0 : $! + 0;
}

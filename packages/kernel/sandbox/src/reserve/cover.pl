# The part of the keeper that places covers in the tree of a sandbox, from outside: see keeper.pl and watch.pl. If a program of the
# host replaces a covered entry, the kernel removes the cover. The keeper then covers the new entry.
#
# A child of the keeper becomes the owner of the sandbox. It enters the user namespace of the mount namespace, then the mount
# namespace. Processes of the sandbox cannot see the child. It creates each cover as a detached mount, and moves the mount onto an
# open descriptor of the entry. So a name that is replaced meanwhile cannot redirect the cover, and the mount table shows its place.
#
# A command may act before the cover is back. The sandbox is killed if the entry is missing for long, is not a file or has another
# name. It is also killed if a read-only part is open for writing, because that descriptor could still write.

our (%n, %watched);

# Maximum number of restorations within ten seconds. Above it, the sandbox is killed.
my $most = 100;

# Microseconds to wait for a missing entry, or for the program that saves it. Seconds for the whole child.
my ($patience, $limit) = (250_000, 10);

sub pause_ { my $none = ''; select($none, undef, undef, $_[0]) }

sub micros { my $now = "\0" x 16; syscall($n{clock_gettime}, 0, $now); my ($s, $ns) = unpack('qq', $now); return $s * 1_000_000 + int($ns / 1000) }

# Returns whether the process has ended.
sub ended { my $in = ''; vec($in, $_[0]{pidfd}, 1) = 1; return select($in, undef, undef, 0) > 0 }

# Restores lost covers, or kills the sandbox.
sub mend {
  my ($id, $w, @lost) = @_;
  return exposed($id, $w, 0, @lost) if ended($w);
  my $now = time();
  ($w->{since}, $w->{count}) = ($now, 0) if $now - ($w->{since} // 0) >= 10;
  return lost($id, $w, @lost) if $w->{ends} || ++$w->{count} > $most; # @defence ` || ++$w->{count} > $most` a program on the host that replaces a protected: is replaced all the time
  cover($id, $w, 1, @lost);
}

sub exposed {
  my ($id, $w, $micros, @which) = @_;
  delete $w->{ids}{$_} for @which;
  say_('exposed', $id, $micros, @which);
}

# Starts a child that places covers.
sub cover {
  my ($id, $w, $careful, @which) = @_;
  my $started = micros();
  pipe(my $from, my $to) or return lost($id, $w, $careful ? @which : $which[0]);
  my $pid = fork;
  return lost($id, $w, $careful ? @which : $which[0]) unless defined $pid;
  if (!$pid) {
    $SIG{IO} = 'IGNORE';
    my $micros = cover_all($w, $careful, $started, @which);
    syswrite($to, "$micros\n") if defined $micros;
    kill 9, $$;
  }
  $w->{child} = { pid => $pid, from => $from, careful => $careful, until => time() + $limit, which => \@which };
}

# Handles the end of the child, or of its time. Checks that each cover is at its mount point.
sub covered {
  my ($id) = @_;
  my $w = $watched{$id};
  my $c = $w->{child};
  my ($said, @which) = ('', @{ $c->{which} });
  sysread($c->{from}, $said, 32) if time() < $c->{until};
  forsake($w);
  my ($micros) = $said =~ /^(\d+)\n/;
  my $over = ended($w);
  return lost($id, $w, $c->{careful} ? @which : $which[0]) unless defined $micros || ($over && $c->{careful});
  exposed($id, $w, $micros // 0, @which) if $c->{careful};
  my %at = reverse %{ table($w) };
  my @again = grep {
    my $i = $_;
    grep { !exists $at{"$_$w->{wanted}[$i]"} } '', @{ $w->{aliases} }
  } @which;
  $w->{ids}{$_} = $at{ $w->{wanted}[$_] } for grep { exists $at{ $w->{wanted}[$_] } } @which;
  if (!$c->{careful}) { @again ? lost($id, $w, $again[0]) : say_('covered', $id) }
  elsif (@again && !$over) { mend($id, $w, @again) }
  else { changed($id) }
  leave($id, $w) if $watched{$id} && !$w->{child} && ($over || $w->{leaving});
}

sub forsake {
  my ($w) = @_;
  my $c = delete $w->{child} or return;
  kill 9, $c->{pid};
  waitpid($c->{pid}, 0);
  close $c->{from};
}

# Runs in the child. Returns the microseconds for which a part was open to commands, at most; undef if a part could not be covered.
sub cover_all {
  my ($w, $careful, $started, @which) = @_;
  my ($there, $here) = enter($w) or return undef;
  my @parts;
  for my $i (@which) { push @parts, [$w->{kinds}[$i], "$_$w->{wanted}[$i]"] for '', @{ $w->{aliases} } }
  my $longest = 0;
  # each mask is a descriptor until it is mounted, so the parts come in groups
  while (my @some = splice(@parts, 0, 200)) {
    my @masks;
    return undef if $here >= 0 && syscall($n{setns}, $here, 0x20000) < 0;
    for (grep { $_->[0] eq 'f' || ($careful && $_->[0] =~ /[de]/) } @some) {
      my $mask = '/proc/mask';
      push @masks, syscall($n{open_tree}, -100, $mask, 0x80001);
      return undef if $masks[-1] < 0;
    }
    return undef if syscall($n{setns}, $there, 0x20000) < 0;
    for (@some) {
      my $micros = cover_one($careful, $started, @$_, \@masks);
      return undef unless defined $micros;
      $longest = $micros if $micros > $longest;
    }
    closefd($_) for @masks;
  }
  return $longest;
}

# Becomes the owner of a sandbox's tree. Returns the sandbox's mount namespace, and a new one with a file to mount as a mask.
sub enter {
  my ($w) = @_;
  my $path = "/proc/$w->{pid}/ns/mnt";
  my $there = openat(-100, $path, 02000000);
  return if $there < 0 || ended($w);
  if ($> == 0 && $w->{uid} > 0) {
    $( = $w->{gid} + 0;
    $) = "$w->{gid} $w->{gid}";
    ($<, $>) = ($w->{uid} + 0) x 2;
    return if $> != $w->{uid} || $< != $w->{uid};
  }
  my $user = syscall($n{ioctl}, $there, 0xb701, 0);
  return if $user < 0 || syscall($n{setns}, $user, 0x10000000) < 0 || syscall($n{unshare}, 0x20000) < 0;
  $path = "/proc/$$/ns/mnt";
  my $here = openat(-100, $path, 02000000);
  my ($at, $type, $data) = ('/proc', 'tmpfs', 'mode=0700,size=4096');
  return if $here < 0 || syscall($n{mount}, $type, $at, $type, 6, $data) < 0;
  my $mask = '/proc/mask';
  my $fd = syscall($n{openat}, -100, $mask, 0xc1, 0);
  return if $fd < 0;
  closefd($fd);
  # read-only: no write passes through the mask, wherever it is mounted
  my $set = pack('QQQQ', 1, 0, 0, 0);
  return if syscall($n{mount_setattr}, -100, $at, 0, $set, 32) < 0;
  return ($there, $here);
}

# Covers one part. $careful: the command is already running. The entry may then be missing for a moment: an editor moves the old file
# away first, and the kernel mounts nothing on a name that is being replaced.
sub cover_one {
  my ($careful, $started, $kind, $path, $masks) = @_;
  my $until = micros() + $patience;
  my ($error, $fd, $s);
  while ((($error, $fd, $s) = put_cover($careful, $kind, $path, $masks)) && $error) {
    return undef unless $careful && $error == 2 && micros() < $until;
    pause_(0.0005);
  }
  my $now = micros();
  my $is_kept = !$careful || is_kept($fd, $s, $kind, $path);
  closefd($fd);
  return undef unless $is_kept;
  # the time of the replacement: the entry's last change, if the file system records it
  my $since = $s->{changed} < $started && $s->{changed} > $started - 1_000_000 ? $s->{changed} : $started;
  return $now - $since;
}

# Puts a cover over an entry. Returns the error, the descriptor of the entry and its status.
sub put_cover {
  my ($careful, $kind, $path, $masks) = @_;
  # opens without reading, and follows no link
  my ($how, $empty) = (pack('QQQ', 012000000, 0, 6), '');
  my $fd = syscall($n{openat2}, -100, $path, $how, 24);
  return $! + 0 if $fd < 0;
  my $s = look($fd, '', 0x1000);
  my $is_file = $s && is_file($s);
  my $is_wrong = !$s || ($careful || $kind eq 'f' ? !$is_file : $kind =~ /[de]/ && !is_directory($s));
  my $tree = $is_wrong ? -1 : $kind !~ /[fde]/ ? itself($fd, $kind eq 'r') : $is_file ? shift @$masks : memory($kind);
  # an entry that is being removed counts as missing
  my $error = $is_wrong ? ($s && $s->{links} ? 22 : 2) : $tree < 0 || syscall($n{move_mount}, $tree, $empty, $fd, $empty, 0x44) < 0 ? $! + 0 : 0;
  if ($error && $is_file && $kind =~ /[fde]/) { unshift @$masks, $tree }
  else { closefd($tree) }
  closefd($fd) if $error;
  return ($error, $fd, $s);
}

# Creates an empty directory in memory.
sub memory {
  my ($kind) = @_;
  my $mode = $kind eq 'e' ? '0555' : '0000';
  my ($type, $key, $size, $bytes, $null) = ('tmpfs', 'mode', 'size', '4096', 0);
  my $fs = syscall($n{fsopen}, $type, 1);
  return -1
    if $fs < 0
    || syscall($n{fsconfig}, $fs, 1, $key, $mode, 0) < 0
    || syscall($n{fsconfig}, $fs, 1, $size, $bytes, 0) < 0
    || syscall($n{fsconfig}, $fs, 6, 0, 0, 0) < 0;
  my $tree = syscall($n{fsmount}, $fs, 1, 7);
  closefd($fs);
  return $tree;
}

# Clones the entry itself as a mount.
sub itself {
  my ($fd, $is_sealed) = @_;
  my ($empty, $set) = ('', pack('QQQQ', 1, 0, 0, 0));
  my $tree = syscall($n{open_tree}, $fd, $empty, 0x89001);
  return $tree if $tree < 0 || !$is_sealed;
  return syscall($n{mount_setattr}, $tree, $empty, 0x9000, $set, 32) < 0 ? -1 : $tree;
}

# Returns whether the command has no other access to the covered entry. Waits a moment for the program that saves the entry.
sub is_kept {
  my ($fd, $s, $kind, $path) = @_;
  # the user of the sandbox can write its own files, and files with write bits for others
  my $is_writable = $kind eq 'r' && ($s->{uid} == $> || $s->{mode} & 022);
  my $how = pack('QQQ', 02004000, 0, 6);
  my $file = $is_writable ? syscall($n{openat2}, -100, $path, $how, 24) : $fd;
  # replaced again: the mount table will show this
  return $! == 2 if $file < 0;
  my $until = micros() + $patience;
  my $is_kept;
  while (1) {
    my $now = look($file, '', 0x1000) or last;
    $is_kept = $now->{id} ne $s->{id} || $now->{links} == 0;
    # the kernel grants a lease to read only if no process has the file open for writing
    my $is_free = !$is_writable || syscall($n{fcntl}, $file, 1024, 0) >= 0;
    last if !$is_free && $! != 11;
    $is_kept ||= $is_free && $now->{links} == 1; # @defence ` && $now->{links} == 1` a file that the host saves: has a further name
    last if $is_kept || micros() > $until;
    pause_(0.002);
  }
  closefd($file) if $is_writable;
  return $is_kept;
}

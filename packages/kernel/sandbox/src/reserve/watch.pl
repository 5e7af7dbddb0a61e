# The part of the keeper that watches the mount tables of sandboxes: see keeper.pl. If a sandbox loses a mount, the mount is restored
# (cover.pl), or the sandbox is killed.
#
# A watch is a hash: pid, pidfd, uid and gid (of the owner), ends (true: kill at the first loss), aliases (further paths of the tree),
# fh (the mount table), wanted (mount points), kinds (of the covers), ids (index in `wanted` => mount number, which a later mount can
# get again) and child (the process that is placing covers).

our (%n, %watched);

# Returns the mount points of a mount table by mount number.
sub table {
  my ($w) = @_;
  sysseek($w->{fh}, 0, 0);
  my ($text, $chunk) = ('', '');
  $text .= $chunk while sysread($w->{fh}, $chunk, 65536);
  my %points = $text =~ /^(\d+) \S+ \S+ \S+ (\S+)/mg;
  for (values %points) { s/\\([0-7]{3})/chr oct $1/ge if /\\/ }
  return \%points;
}

# Starts a watch. Each part is a letter and a mount point: the mask of a file, of a directory, an empty directory, read-only, writable,
# or x, which is not restored. With a `+` in front, the cover is missing so far, and is placed now.
sub watch {
  my ($id, $pid, $start, $uid, $gid, $how, $aliases, @parts) = @_;
  my $pidfd = syscall($n{pidfd_open}, $pid + 0, 0);
  return $! == 3 ? say_('ended', $id) : say_('lost', $id) if $pidfd < 0;
  my $w = { pid => $pid, pidfd => $pidfd, uid => $uid, gid => $gid, ends => $how eq 'end', ids => {} };
  $w->{aliases} = [map { pack('H*', $_) } split /,/, substr($aliases, 1)];
  my @late;
  for my $i (0 .. $#parts) {
    my ($kind, $point) = split /:/, $parts[$i];
    push @late, $i if $kind =~ s/^\+//;
    $w->{kinds}[$i] = $kind;
    $w->{wanted}[$i] = pack('H*', $point);
  }
  open(my $f, '<', "/proc/$pid/stat") or return unseen($id, $w);
  my $stat = <$f> // '';
  close $f;
  $stat =~ s/^.*\) //s;
  # another process may have the pid of an ended process
  return leave($id, $w) unless ((split / /, $stat)[19] // '') eq $start;
  sysopen($w->{fh}, "/proc/$pid/mountinfo", 0) or return unseen($id, $w);
  # the first result is always true
  is_changed($w);
  my ($points, %at) = (table($w));
  %at = reverse %$points;
  # of several mounts at one point, only the last is visible
  if (keys %at < keys %$points) { $at{ $points->{$_} } = $_ for sort { $a <=> $b } keys %$points }
  my %late = map { $_ => 1 } @late;
  my @lost;
  for my $i (0 .. $#parts) {
    my $mount = $at{ $w->{wanted}[$i] };
    if (defined $mount) { $w->{ids}{$i} = $mount }
    elsif (!$late{$i}) { push @lost, $i }
  }
  $watched{$id} = $w;
  if (@lost) { mend($id, $w, @lost) }
  elsif (@late) { cover($id, $w, 0, @late) }
}

# Handles a watch that cannot start. If the sandbox has not ended, kills it: it must not run unwatched.
sub unseen {
  my ($id, $w) = @_;
  return leave($id, $w) if $! == 2 || $! == 3 || $! == 22;
  end($w);
  closefd($w->{pidfd});
  say_('lost', $id);
}

sub leave {
  my ($id, $w) = @_;
  forget_watch($id, $w);
  say_('ended', $id);
}

sub lost {
  my ($id, $w, $i, @others) = @_;
  end($w);
  exposed($id, $w, 0, @others) if @others;
  forget_watch($id, $w);
  say_('lost', $id, $i);
}

sub forget_watch {
  my ($id, $w) = @_;
  forsake($w);
  closefd($w->{pidfd});
  close $w->{fh} if $w->{fh};
  delete $watched{$id};
}

# Ends a watch, after its command has ended.
sub unwatch {
  my ($id) = @_;
  my $w = $watched{$id} or return;
  changed($id) if is_changed($w);
  return unless $watched{$id};
  return leave($id, $w) unless $w->{child};
  $w->{leaving} = 1;
}

# Kills the first process of a sandbox, which ends all its processes.
sub end { my ($w) = @_; syscall($n{pidfd_send_signal}, $w->{pidfd}, 9, 0, 0) }

# Returns whether the mount table has changed since the last call, or since `select` reported a change.
sub is_changed { my $in = ''; vec($in, fileno $_[0]{fh}, 1) = 1; return select(undef, undef, $in, 0) != 0 }

# Handles a change of a mount table. While a child places covers, does nothing: `covered` checks the table afterwards.
sub changed {
  my ($id) = @_;
  my $w = $watched{$id};
  return if $w->{child};
  my $points = table($w);
  my $ids = $w->{ids};
  my @lost = sort { $a <=> $b } grep { ($points->{ $ids->{$_} } // '') ne $w->{wanted}[$_] } keys %$ids;
  mend($id, $w, @lost) if @lost; # @defence a mask that is lost while a command runs: a mask that is lost ends the command
}

# Waits for changes of the watched mount tables, up to a number of seconds. Returns whether the input can be read.
sub attend {
  my ($read, $seconds) = @_;
  my ($in, $changes) = ('', '');
  vec($in, 0, 1) = 1 if $read;
  for (values %watched) {
    if ($_->{child}) { vec($in, fileno $_->{child}{from}, 1) = 1; $seconds //= 1 }
    else { vec($changes, fileno $_->{fh}, 1) = 1 }
  }
  return 0 if select($in, undef, $changes, $seconds) < 0;
  for (keys %watched) {
    my $w = $watched{$_};
    if ($w->{child}) { covered($_) if vec($in, fileno $w->{child}{from}, 1) || time() >= $w->{child}{until} }
    elsif (vec($changes, fileno $w->{fh}, 1)) { changed($_) }
  }
  return $read && vec($in, 0, 1);
}

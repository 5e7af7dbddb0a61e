# The part of the keeper that watches the mount tables of sandboxes: see keeper.pl. A sandbox that loses a mount
# gets it back (cover.pl), or is killed.
#
# A watch is a hash: pid, pidfd, uid and gid (of its owner), ends (killed at the first loss), aliases (where its tree appears again),
# fh (the mount table), wanted (mount points), kinds (what covers each), ids (place in `wanted` => number of the mount there, which
# another mount can have when that is gone) and child (what covers at the moment).

our (%n, %watched);

# The mount points of a table by the numbers of their mounts.
sub table {
  my ($w) = @_;
  sysseek($w->{fh}, 0, 0);
  my ($text, $chunk) = ('', '');
  $text .= $chunk while sysread($w->{fh}, $chunk, 65536);
  my %points = $text =~ /^(\d+) \S+ \S+ \S+ (\S+)/mg;
  for (values %points) { s/\\([0-7]{3})/chr oct $1/ge if /\\/ }
  return \%points;
}

# Each part is a letter and its mount point: the mask of a file, of a directory, an empty directory, read-only, writable, or x, which
# is not put back. A `+` in front: it is to be covered first.
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
  # the number of a process that has ended may be another's by now
  return leave($id, $w) unless ((split / /, $stat)[19] // '') eq $start;
  sysopen($w->{fh}, "/proc/$pid/mountinfo", 0) or return unseen($id, $w);
  # The first answer is always yes.
  is_changed($w);
  my ($points, %at) = (table($w));
  %at = reverse %$points;
  # of several mounts at one point, the last one is seen
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

# It has ended, or it cannot be watched, for want of descriptors for instance: it does not go on without.
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

# Its command has ended.
sub unwatch {
  my ($id) = @_;
  my $w = $watched{$id} or return;
  changed($id) if is_changed($w);
  return unless $watched{$id};
  return leave($id, $w) unless $w->{child};
  $w->{leaving} = 1;
}

# Kills the first process of a sandbox, and so all of it.
sub end { my ($w) = @_; syscall($n{pidfd_send_signal}, $w->{pidfd}, 9, 0, 0) }

# Whether the mount table has changed since this was asked, or `select` said so.
sub is_changed { my $in = ''; vec($in, fileno $_[0]{fh}, 1) = 1; return select(undef, undef, $in, 0) != 0 }

# A mount table has changed. While something is being covered, that is looked at afterwards.
sub changed {
  my ($id) = @_;
  my $w = $watched{$id};
  return if $w->{child};
  my $points = table($w);
  my $ids = $w->{ids};
  my @lost = sort { $a <=> $b } grep { ($points->{ $ids->{$_} } // '') ne $w->{wanted}[$_] } keys %$ids;
  mend($id, $w, @lost) if @lost;
}

# Waits for a change of what is watched, or for so many seconds. True when there is something to read.
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

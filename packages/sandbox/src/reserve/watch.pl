# The part of the keeper that watches the mount tables of sandboxes, and kills those that lose a mount: see keeper.pl.
#
# A watch is a hash: pidfd, fh (the mount table), wanted (mount points) and ids (number of a mount => its place in `wanted`).

our (%n, %watched);

# The mount points of a table by the numbers of their mounts.
sub table {
  my ($w) = @_;
  sysseek($w->{fh}, 0, 0);
  my ($text, $chunk) = ('', '');
  $text .= $chunk while sysread($w->{fh}, $chunk, 65536);
  my %points;
  for (split /\n/, $text) {
    my ($id, undef, undef, undef, $point) = split / /;
    next unless defined $point;
    $point =~ s/\\([0-7]{3})/chr oct $1/ge;
    $points{$id} = $point;
  }
  return \%points;
}

sub watch {
  my ($id, $pid, $start, @wanted) = @_;
  @wanted = map { pack('H*', $_) } @wanted;
  my $pidfd = syscall($n{pidfd_open}, $pid + 0, 0);
  return $! == 3 ? say_('ended', $id) : say_('lost', $id) if $pidfd < 0;
  my $w = { pidfd => $pidfd, wanted => \@wanted, ids => {} };
  open(my $f, '<', "/proc/$pid/stat") or return unseen($id, $w);
  my $stat = <$f> // '';
  close $f;
  $stat =~ s/^.*\) //s;
  # the number of a process that has ended may be another's by now
  return leave($id, $w) unless ((split / /, $stat)[19] // '') eq $start;
  sysopen($w->{fh}, "/proc/$pid/mountinfo", 0) or return unseen($id, $w);
  my $points = table($w);
  my %at;
  # of several mounts at one point, the last one is seen
  $at{ $points->{$_} } = $_ for sort { $a <=> $b } keys %$points;
  for my $i (0 .. $#wanted) {
    return lost($id, $w, $i) unless exists $at{ $wanted[$i] };
    $w->{ids}{ $at{ $wanted[$i] } } = $i;
  }
  $watched{$id} = $w;
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
  closefd($w->{pidfd});
  close $w->{fh} if $w->{fh};
  delete $watched{$id};
  say_('ended', $id);
}

sub lost {
  my ($id, $w, $i) = @_;
  end($w);
  closefd($w->{pidfd});
  close $w->{fh};
  delete $watched{$id};
  say_('lost', $id, $i);
}

# Kills the first process of a sandbox, and so all of it.
sub end { my ($w) = @_; syscall($n{pidfd_send_signal}, $w->{pidfd}, 9, 0, 0) }

# A mount table has changed.
sub changed {
  my ($id) = @_;
  my $w = $watched{$id};
  my $points = table($w);
  for my $mount (keys %{ $w->{ids} }) {
    my $i = $w->{ids}{$mount};
    return lost($id, $w, $i) unless defined $points->{$mount} && $points->{$mount} eq $w->{wanted}[$i];
  }
}

# Waits for a change of what is watched, or for so many seconds. True when there is something to read.
sub attend {
  my ($read, $seconds) = @_;
  my ($in, $changes) = ('', '');
  vec($in, 0, 1) = 1 if $read;
  vec($changes, fileno($watched{$_}{fh}), 1) = 1 for keys %watched;
  return 0 if select($in, undef, $changes, $seconds) < 0;
  for (keys %watched) { changed($_) if vec($changes, fileno($watched{$_}{fh}), 1) }
  return $read && vec($in, 0, 1);
}

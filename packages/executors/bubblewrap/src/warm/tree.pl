# The tree of one command, as its spare mounts it: see supervisor.pl. A step that fails ends the spare.

our %n;

# Mounts a file system, or fails in a step.
sub mounted {
  my ($step, $type, $at, $flags, $data) = @_;
  call('mount', $type, $at, $type, $flags, $data) == 0 or fail($step);
}

# Mounts a file system in memory: without setuid programs and devices.
sub memory { my ($step, $at, $flags, $data) = @_; mounted($step, 'tmpfs', $at, 6 | $flags, $data) }

# Mounts one place over another, with all that is mounted below it.
sub bind_ {
  my ($step, $from, $at) = @_;
  my $type = '';
  syscall($n{mount}, $from, $at, $type, 0x5000, $type) == 0 or fail($step);
}

# The parts of an order, each with the place that it is mounted over. A part says what it shows: `self` (what is there), `empty`,
# `closed`, the mask of a file; and in a tree that is put together `self` (a place of the supervisor's), `system`, `again` (the tree).
sub parts {
  my ($o) = @_;
  my @from = @{ $o->{f} };
  return map {
    my ($show, $type, $access, $at) = split / /, $_, 4;
    my $from = @from ? shift @from : $at;
    $at = $o->{r} . ($at eq '/' ? '' : $at) if defined $o->{r};
    +{ show => $show, type => $type, ro => $access eq 'ro', at => $at, from => $from }
  } @{ $o->{c} };
}

# Mounts the parts of an order. A part can lie below one that is closed or sealed: such a one is opened before anything is covered.
# All are, but for those that are more than there may be descriptors.
sub cover {
  my ($top, @parts) = @_;
  my @shown = grep { $_->{show} eq 'self' } @parts;
  my %strict = map { $_->{at} => 1 } grep { $_->{ro} || $_->{show} eq 'closed' } @parts;
  my $open = sub {
    my ($part) = @_;
    $part->{fd} = call('openat', -100, $part->{from}, 0x200000 | 0x80000 | $n{nofollow}, 0);
    fail('open') if $part->{fd} < 0;
  };
  for my $part (@shown) {
    my $at = $part->{at};
    my $is_inside = @shown <= 200;
    $is_inside ||= $strict{$at} while $at =~ s{/[^/]+$}{};
    $open->($part) if $is_inside;
  }
  my ($mask, @closed);
  # once their open parts have their place in them
  my $seal = sub { unwritable($_, 'alone') for splice @closed };
  for (@parts) {
    my ($show, $at) = ($_->{show}, $_->{at});
    if ($show eq 'self') {
      $open->($_) unless defined $_->{fd};
      bind_('bind', "/proc/self/fd/$_->{fd}", $at);
      call('close', $_->{fd});
      unwritable($at) if $_->{ro};
    }
    elsif ($show eq 'system') { bind_('system', $_->{from}, $at) }
    elsif ($show eq 'again') { $seal->(); bind_('again', $top, $at) } # @defence `$seal->(); ` a warm command that keeps a right with which its sandbox: below each alias
    elsif ($_->{type} eq 'file') {
      # not before: the tree takes its `/dev` along
      $mask //= mask();
      bind_('mask', $mask, $at);
    }
    elsif ($show eq 'closed') {
      closed($at, @parts);
      push @closed, $at;
    }
    else {
      memory('mask', $at, 1, 'size=4096,mode=' . ($show eq 'empty' ? '0555' : '0000'));
    }
  }
  $seal->();
  my $shm = '/dev/shm';
  if (defined $mask) { call('umount2', $shm, 2) == 0 or fail('mask') }
}

# Makes the file that masks others, and answers its path.
sub mask {
  my $shm = '/dev/shm';
  memory('mask', $shm, 0, 'mode=0700,size=4096');
  my $mask = "$shm/mask";
  my $fd = call('openat', -100, $mask, 0xc1, 0);
  fail('mask') if $fd < 0;
  call('close', $fd);
  # and so is each mount of the file
  unwritable($shm, 'alone');
  return $mask;
}

# Makes a directory the root of all in this namespace, and lets go of the former one.
sub become_root {
  my ($top) = @_;
  my ($here, $slash) = ('.', '/');
  call('chdir', $top) == 0 or fail('root');
  call('pivot_root', $here, $here) == 0 or fail('root');
  call('umount2', $here, 2) == 0 or fail('root');
  call('chdir', $slash) == 0 or fail('root');
}

# Seals one mount, and those below it unless it is to be alone.
sub unwritable {
  my ($at, $alone) = @_;
  my $set = pack('QQQQ', 1, 0, 0, 0);
  call('mount_setattr', -100, $at, $alone ? 0x100 : 0x8100, $set, 32) == 0 or fail('read-only');
}

# Nothing is made by a name in the workspace: a closed directory gets the places of its open parts before it is mounted.
sub closed {
  my ($at, @covers) = @_;
  my $shm = '/dev/shm';
  memory('closed', $shm, 0, 'size=4096,mode=0111');
  for (@covers) {
    next unless index($_->{at}, "$at/") == 0;
    my $path = $shm;
    my @names = split m{/}, substr($_->{at}, length($at) + 1);
    my $name = pop @names;
    for (@names) { $path .= "/$_"; call('mkdirat', -100, $path, 0755) }
    $path .= "/$name";
    if ($_->{type} ne 'file') { call('mkdirat', -100, $path, 0755); next }
    my $fd = call('openat', -100, $path, 0x41, 0600);
    call('close', $fd) if $fd >= 0;
  }
  bind_('closed', $shm, $at);
  call('umount2', $shm, 2) == 0 or fail('closed');
}

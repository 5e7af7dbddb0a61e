# The part of the keeper that reserves and releases names: see keeper.pl. A chain is the list of the entries of one reservation, the
# outermost first.

our (%n, $dir, $mark, $unread);
# chains by id of the reservation; notes of temporary names by directory; directories in which a temporary name is left
my (%held, %intents, %untidy);

# Reserves a name below the root. Arguments: id, uid and gid of the owner (-1: none), root and path in hexadecimal. To reserve the
# name by a file: also `=` with the content in hexadecimal. Returns `placed` and the identity, or the reason of a failure.
sub place {
  my ($id, $uid, $gid, $root, $path, $content) = @_;
  $root = pack('H*', $root);
  $content = pack('H*', substr($content, 1)) if defined $content;
  my @names = split m{/}, pack('H*', $path);
  my (@chain, @spare);
  my @all = journal();
  return failed('unwritable', $unread) if $unread;
  my $fd = walk($root);
  return failed('changed') if $fd < 0;
  push @spare, $fd;
  my $at = $root eq '/' ? '' : $root;
  while (@names) {
    my $name = $names[0];
    my $s = look($fd, $name);
    if (!$s) {
      return finish(failed($! == 13 ? 'forbidden' : 'changed'), \@chain, \@spare) unless $! == 2;
      my $make = sub { make($fd, $at, [@names], $uid, $gid, \@spare, $content) };
      my $above = look($fd, '', 0x1000);
      my $is_placeholder = grep { $_->{kind} eq 'leaf' && fits($above, $_) } @all;
      my ($answer, @new) = $is_placeholder ? inside($fd, $make) : $make->();
      settle($fd, @all);
      return finish($answer, \@chain, \@spare) if $answer ne 'placed';
      push @chain, @new;
      last;
    }
    my $is_file = @names == 1 && defined $content;
    return finish('changed', \@chain, \@spare) unless $is_file ? is_file($s) : is_directory($s);
    my ($known) = grep { $_->{id} eq $s->{id} && fits($s, $_) } @all;
    return finish('changed', \@chain, \@spare) if !$known && @names == 1;
    if ($known) {
      my %e = (%$known, path => "$at/$name", fd => $fd, name => $name);
      $e{file} = note(\%e);
      return finish(failed('unwritable'), \@chain, \@spare) unless defined $e{file};
      push @chain, \%e;
      last if $is_file;
    }
    my $next = openat($fd, $name);
    return finish(failed('changed'), \@chain, \@spare) if $next < 0;
    push @spare, $next;
    my $there = look($next, '', 0x1000);
    return finish('changed', \@chain, \@spare) unless $there && $there->{id} eq $s->{id};
    $fd = $next;
    $at .= "/$name";
    shift @names;
  }
  my %kept = map { $_->{fd} => 1 } @chain;
  closefd($_) for grep { !$kept{$_} } @spare;
  $held{$id} = \@chain;
  return "placed $chain[-1]{id}";
}

# Gives up a reservation: removes the notes and closes the descriptors.
sub finish {
  my ($answer, $chain, $spare) = @_;
  forget(map { $_->{file} } @$chain);
  closefd($_) for @$spare;
  return $answer;
}

# Notes that temporary names will be created in a directory. One note is enough for a whole group of requests.
sub intend {
  my ($at) = @_;
  return 1 if $intents{$at};
  my $intent = next_file();
  return put($intent, 'temp', unpack('H*', "$at/.ws-tmp-$mark-")) && ($intents{$at} = $intent);
}

# Ends a group of requests: removes the notes of temporary names, except where such a name is left.
sub made {
  $untidy{$_} ? leave_note($intents{$_}) : unlink "$dir/$intents{$_}" for keys %intents;
  %intents = %untidy = ();
}

# Creates each directory in the one above it, closed to others, and notes it at once. Owners and modes are set from the inside out, so
# that no other user can enter before the outermost directory has them. Then the outermost directory is moved to its name.
sub make {
  my ($fd, $at, $names, $uid, $gid, $spare, $content) = @_;
  return failed('unwritable') unless intend($at);
  my ($above, $path, @new) = ($fd, $at);
  my $temp = ".ws-tmp-$mark-" . int(rand(2**31));
  my $undo = sub {
    my ($answer) = @_;
    for my $e (reverse @new) {
      my $s = look($e->{fd}, $e->{place});
      next unless $s && $s->{id} eq $e->{id};
      removeat($e->{fd}, $e->{place}, $s) or $untidy{$at} = 1;
    }
    forget(map { $_->{file} // () } @new);
    return $answer;
  };
  for my $i (0 .. $#$names) {
    my $name = $names->[$i];
    $path .= "/$name";
    my $place = $i ? $name : $temp;
    my $is_file = $i == $#$names && defined $content;
    my ($own, $made) = $is_file ? fresh_file($above, $place, $content) : fresh($above, $place);
    if ($own < 0) {
      $untidy{$at} = 1 if $made eq 'changed' || ($made =~ /^short/ && !removeat($above, $place) && $! != 2);
      return $undo->($made);
    }
    push @$spare, $own;
    my $kind = $is_file ? 'file' : $i == $#$names ? 'leaf' : 'parent';
    my $e = { kind => $kind, path => $path, name => $name, place => $place, fd => $above, own => $own };
    $e->{id} = $made->{id};
    $e->{time} = 1 + int(rand(2**30));
    push @new, $e;
    $e->{file} = note($e);
    return $undo->(failed('unwritable')) unless defined $e->{file};
    $above = $own;
  }
  for my $e (reverse @new) { shape($e->{own}, $e, $uid, $gid) or return $undo->(failed('unsupported')) }
  if (syscall($n{renameat2}, $fd, $temp, $fd, $names->[0], 1) < 0) {
    return $undo->($! == 22 || $! == 38 || $! == 95 ? 'unsupported' : failed('changed'));
  }
  $new[0]{place} = $names->[0];
  for my $e (@new) { fits(look($e->{fd}, $e->{place}), $e) or return $undo->('changed') }
  return ('placed', @new);
}

# Releases a reservation. Its last living user removes the entries.
sub drop {
  my ($id) = @_;
  my $chain = delete $held{$id} or return 'gone';
  my @all = journal();
  look_again();
  my %own = map { $_->{file} => 1 } @$chain;
  my (%closed, $left);
  for my $e (reverse @$chain) {
    my @others = grep { same($_, $e) && !$own{$_->{file}} && lives($_->{owner}) } @all;
    intend($e->{path} =~ s{/[^/]+$}{}r) if $e->{kind} eq 'file' && !@others;
    my $error = $unread ? $unread : @others || !-e "$dir/$e->{file}" ? 0 : take($e->{fd}, $e->{name}, $e, @all); # @defence `$unread ? $unread : ` a keeper: takes no name from another keeper
    # a directory above a remaining entry is not empty; in any other directory, a program has created an entry, so the directory remains
    if ($error && ($left || ($error != 39 && $error != 17))) { $left = 1; leave_note($e->{file}) }
    else { forget($e->{file}) }
    $closed{ $e->{fd} } = 1;
  }
  closefd($_) for keys %closed;
  return 'gone';
}

# Returns the temporary names in a directory that begin with the prefix of a note; undef, with $!, if it cannot be listed.
sub temporary {
  my ($fd, $prefix) = @_;
  return [] unless $prefix =~ /^\.ws-tmp-/;
  my $names = names($fd) or return undef;
  return [grep { index($_, $prefix) == 0 } @$names];
}

# Removes the entries of keepers that have ended: temporary names first, then inner directories before outer ones.
sub sweep {
  look_again();
  my @all = journal();
  return 'swept 0' if $unread;
  # owners of remaining temporary names, and paths that could not be removed
  my ($swept, %kept, @left) = (0);
  my @dead = sort { ($b->{kind} eq 'temp') <=> ($a->{kind} eq 'temp') || length $b->{path} <=> length $a->{path} }
    grep { !lives($_->{owner}) } @all;
  for my $e (@dead) {
    my ($above, $name) = $e->{path} =~ m{^(.*)/([^/]+)$} or next;
    my $fd = walk($above);
    my $error = $fd < 0 && $! != 2 && $! != 20 ? $! + 0 : 0;
    if ($fd >= 0 && $e->{kind} eq 'temp') {
      my %noted = map { $_->{id} => 1 } grep { $_->{owner} eq $e->{owner} } @dead;
      my $clear = sub {
        my $there = temporary($fd, $name) or return $! + 0;
        my $worst = 0;
        $worst ||= clear($fd, $_, \%noted) for @$there;
        return $worst;
      };
      $error = $clear->();
      $error = inside($fd, $clear) if $error == 13;
      $kept{ $e->{owner} } = 1 if $error;
    }
    elsif ($fd >= 0 && !grep { same($_, $e) && lives($_->{owner}) } @all) {
      intend($above) if $e->{kind} eq 'file';
      $error = take($fd, $name, $e, @all); # @defence a reserved name that a caller of the file API sees: are swept at the next start
      $swept++ unless $error;
      $error = 0 if ($error == 39 || $error == 17) && !grep { index($_, "$e->{path}/") == 0 } @left;
    }
    closefd($fd);
    if ($error || ($kept{ $e->{owner} } && $e->{kind} ne 'temp')) {
      push @left, $e->{path};
      leave_note($e->{file}) unless $e->{owner} =~ /-left$/;
    }
    else { unlink "$dir/$e->{file}" }
  }
  sweep_marks();
  made();
  return "swept $swept";
}

# Releases all reservations.
sub drop_all {
  return unless %held;
  locked(sub { drop($_); made(); '' }) for keys %held;
}

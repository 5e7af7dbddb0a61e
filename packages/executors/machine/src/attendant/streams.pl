# Streams of the host and of commands: for the attendant, see attendant.pl.

# Base64 in lines, for machines whose streams are strings. perl-base lacks MIME::Base64; `pack` has the same in another alphabet.
sub encoded {
  my ($bytes) = @_;
  my $text = pack('u', $bytes);
  $text =~ s/^.//mg;
  $text =~ tr{\n}{}d;
  $text =~ tr{` -_}{AA-Za-z0-9+/};
  my $odd = length($bytes) % 3;
  substr($text, -$_, $_) = '=' x $_ for $odd ? 3 - $odd : ();
  return "$text\n";
}

sub decoded {
  my ($text) = @_;
  $text =~ tr{A-Za-z0-9+/}{}cd;
  $text =~ tr{A-Za-z0-9+/}{ -_};
  return join '', map { unpack 'u', chr(32 + int(length($_) * 3 / 4)) . $_ } unpack '(a60)*', $text;
}

# Writes input. The host may send as much again.
sub feed {
  my ($id, $command) = @_;
  my $input = $command->{input} or return;
  if (length $command->{pending}) {
    my $wrote = syswrite($input, $command->{pending}, 65536);
    if (defined $wrote) { substr($command->{pending}, 0, $wrote, ''); say_('g', $id, pack('N', $wrote)) }
    elsif ($! != 11 && $! != 4) { @{$command}{qw(pending input)} = (''); say_('p', $id) }
  }
  delete $command->{input} if $command->{is_whole} && !length $command->{pending} && !$command->{terminal};
}

# Reads one stream of a command. Where no process of the command is left, all that it wrote is in the pipe already.
sub drain {
  my ($id, $command, $number) = @_;
  my $most = $command->{$number} < 65536 ? $command->{$number} : 65536;
  my $got = sysread($command->{streams}{$number}, my $bytes, $most);
  if ($got) { $command->{$number} -= $got; return say_($number, $id, $bytes) }
  return if !defined $got && $! == 4;
  # a terminal says itself that all was read, a moment later
  my $is_empty = !defined $got && $! == 11;
  return if $is_empty && !($command->{gone} && (!$command->{terminal} || time > $command->{gone} + 1));
  delete $command->{streams}{$number};
}

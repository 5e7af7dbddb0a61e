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

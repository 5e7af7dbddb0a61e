# Prints the ports on which programs listen in the network that it runs in.

for my $name (qw(tcp tcp6)) {
  open(my $table, '<', "/proc/net/$name") or next;
  /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) \S+ 0A / and print hex($1), "\n" for <$table>;
}

# Reports the table of mounts whenever it changes: a host program that replaces an entry lifts the mount over it.

my $table;
sub watch_mounts { open($table, '<', '/proc/self/mountinfo') or out(1) }

# A set of descriptors for `select`, which tells each change once.
sub mount_events { my $set = ''; vec($set, fileno $table, 1) = 1 if $table; return $set }

sub report_mounts {
  my ($events) = @_;
  return unless $table && vec($events, fileno $table, 1);
  sysseek($table, 0, 0);
  my $text = '';
  1 while sysread($table, $text, 65536, length $text);
  say_('m', 0, $text);
}

# A change that came before the end of a command is reported before this end.
sub look_at_mounts {
  my $events = mount_events();
  select(undef, undef, $events, 0);
  report_mounts($events);
}

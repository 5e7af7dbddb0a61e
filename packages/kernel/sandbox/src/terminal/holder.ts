/**
 * Holds a pseudoterminal open, outside every sandbox, as the process that the library starts.
 *
 * - It gives its terminal up (TIOCNOTTY), so the session inside can control it, and then prints its name.
 * - It keeps the slave side open, so the last output can be read when every writer has gone.
 * - On USR1, when all writers have gone, it writes a mark: a reader of the mark has read all earlier output.
 *
 * It dies with the thread that started it, and has no descriptor but the terminal.
 */
export const holderScript = String.raw`
my ($parent, $mark, $prctl) = @ARGV; $SIG{HUP} = 'IGNORE';
syscall($prctl, 1, 9, 0, 0, 0); exit 1 if getppid() != $parent;
syscall(436, 3, 0xffffffff, 0);
my $set = "\0" x 256; my $nothing = "\0" x 8;
if (ioctl(STDIN, 0x5401, $set)) { substr($set, 0, 4) = pack('L', unpack('L', $set) | 0x4000); ioctl(STDIN, 0x5402, $set) }
$SIG{USR1} = sub { ioctl(STDOUT, 0x540A, 1); syswrite(STDOUT, $mark); exit 0 };
ioctl(STDIN, 0x5422, 0) or exit 1;
my $name = readlink('/proc/self/fd/0') // exit 1;
syswrite(STDOUT, "$mark$name$mark");
sleep 86400 while 1`

/** Reads the holder's answer: the slave's path between two marks. */
export function readName(text: string, mark: string): string | undefined {
  const parts = text.split(mark)
  return parts.length >= 3 && parts[1]?.startsWith('/dev/') ? parts[1] : undefined
}

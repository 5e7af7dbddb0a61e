/**
 * The process that the terminal library starts. It keeps a pseudoterminal open, outside every sandbox.
 *
 * - It detaches from the terminal (TIOCNOTTY), so that the session inside can control it. Then it prints the terminal's name.
 * - It keeps the slave side open, so that the last output can be read after every writer has ended.
 * - On USR1, sent when all writers have ended, it writes a mark. A reader of the mark has read all earlier output.
 *
 * It ends with the thread that started it, and has no descriptor except the terminal.
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

/** Returns the slave's path, which the holder prints between two marks. */
export function readName(text: string, mark: string): string | undefined {
  const parts = text.split(mark)
  return parts.length >= 3 && parts[1]?.startsWith('/dev/') ? parts[1] : undefined
}

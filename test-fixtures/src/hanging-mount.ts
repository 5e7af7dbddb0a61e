import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A mounted directory with one file, `hang`, whose reads never end. */
export interface HangingMount extends AsyncDisposable {
  /** Resolves when a process waits for the content. From then on, no signal can end that process. */
  readonly read: Promise<unknown>
}

/**
 * A FUSE server for root, which never answers READ. A reader survives SIGKILL only if the server has taken its request off the queue.
 * Numbers and layouts are those of `linux/fuse.h`, version 7.31.
 */
const server = String.raw`
my ($at, $uid, $gid, $mount) = @ARGV;
sysopen(my $fuse, '/dev/fuse', 2) or die "fuse: $!";
my ($source, $type, $data) = ('hang', 'fuse', 'fd=' . fileno($fuse) . ',rootmode=40000,user_id=0,group_id=0,allow_other');
$^F = 255; syscall($mount, $source, $at, $type, 0, $data) == 0 or die "mount: $!";
sub attr { my ($node) = @_; my $mode = $node == 1 ? 040755 : 0100644;
  pack('Q6 L10', $node, 4096, 8, 0, 0, 0, 0, 0, 0, $mode, 1, $uid, $gid, 0, 4096, 0) }
sub answer { my ($unique, $error, $body) = @_; syswrite($fuse, pack('L l Q', 16 + length($body), -$error, $unique) . $body) }
$| = 1; print "ready\n";
while (sysread($fuse, my $request, 200_000)) {
  my ($length, $op, $unique, $node) = unpack('L L Q Q', $request);
  if ($op == 26) { answer($unique, 0, pack('L4 S2 L2 S2 L8', 7, 31, 65536, 0, 16, 12, 65536, 1, 0, 0, (0) x 8)) }
  elsif ($op == 1) { substr($request, 40) eq "hang\0" ? answer($unique, 0, pack('Q4 L2', 2, 0, 0, 0, 0, 0) . attr(2)) : answer($unique, 2, '') }
  elsif ($op == 3) { answer($unique, 0, pack('Q L2', 0, 0, 0) . attr($node)) }
  elsif ($op == 14 || $op == 27) { answer($unique, 0, pack('Q L2', 0, $op == 14 ? 1 : 0, 0)) }
  elsif ($op == 15) { print "read\n" }
  elsif ($op == 28 || $op == 18 || $op == 29 || $op == 25) { answer($unique, 0, '') }
  elsif ($op != 2 && $op != 36 && $op != 42) { answer($unique, 38, '') }
}`

/**
 * @param at an empty directory. When the mount is disposed, waiting reads end
 * @param isDead the mount answers nothing at all. Default: it answers all but reads
 */
export async function mountHanging(
  at: string,
  { uid, gid, isDead = false }: { readonly uid: number; readonly gid: number; readonly isDead?: boolean },
): Promise<HangingMount> {
  const mount = process.arch === 'arm64' ? 40 : 165
  const child = spawn('/usr/bin/perl', ['-e', server, at, ...[uid, gid, mount].map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { promise: ready, resolve: onReady, reject } = Promise.withResolvers<void>()
  const { promise: read, resolve: onRead } = Promise.withResolvers<void>()
  child.once('exit', () => reject(new Error('the mount could not be made')))
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    if (text.includes('ready')) onReady()
    if (text.includes('read\n')) onRead()
  })
  await ready
  if (isDead) child.kill('SIGSTOP')
  return {
    read,
    async [Symbol.asyncDispose]() {
      // The server's end closes the connection: every waiting read fails.
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      await once(spawn('/usr/bin/umount', ['-l', at], { stdio: 'ignore' }), 'exit')
    },
  }
}

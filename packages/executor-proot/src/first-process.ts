import type { DescriptorSource, ExtraDescriptors } from '@ws/process'

/** Descriptors of the first process in the view. The command has none of them. */
export const ordersDescriptor = 3
export const reportDescriptor = 4
/** The command's standard error: proot's own messages go to its own. */
export const errorDescriptor = 5

/**
 * The first process in the view starts the command and reports how it ended. Why proot does not start it itself:
 *
 * - proot ends with 255 for any signal that ended its first process, and only when its last process has ended: a
 *   background process would keep a command from ending;
 * - its environment is proot's as well, where PROOT_LOADER names a host path, and LD_PRELOAD would act outside the view.
 *
 * Signals to the whole group are for the command, so it sits them out.
 *
 * A command goes on for a moment when proot has been killed, and fails at its next path. So an ending counts only if proot still
 * translates afterwards: then it lived as long as the command did.
 */
const script = String.raw`
open(my $in, '<&=', 3) or exit 125; my @f; { local $/; @f = unpack('(V/a)*', <$in>) } close($in);
open(my $err, '>&=', 5) or exit 125; open(my $out, '>&=', 4) or exit 125; sub report { syswrite($out, "$_[0]\n") }
my $own = shift @f; my $cwd = shift @f; if (!chdir($cwd)) { report('fail cwd ' . ($! + 0)); exit 126 }
$SIG{$_} = sub {} for qw(TERM INT HUP QUIT USR1 USR2); report('started');
my $pid = fork(); if (!defined $pid) { report('fail fork ' . ($! + 0)); exit 126 }
if (!$pid) { $SIG{$_} = 'DEFAULT' for qw(TERM INT HUP QUIT USR1 USR2);
  open(STDERR, '>&', 5) or exit 126; close($err);
  %ENV = map { split(/=/, $_, 2) } @f; no warnings; exec { $ARGV[0] } @ARGV; report('fail exec ' . ($! + 0)); exit 126 }
my $r; do { $r = waitpid($pid, 0) } while $r < 0 && $! == 4;
my $status = $?; my @etc = stat('/etc'); exit 0 unless @etc && "$etc[0]:$etc[1]" eq $own;
report($status & 127 ? 'signal ' . ($status & 127) : 'exit ' . ($status >> 8)); exit 0`

export interface FirstProcess {
  readonly argv: readonly string[]
  readonly extraFds: ExtraDescriptors
}

/**
 * @param cwd a directory in the view
 * @param etc device and inode of what is `/etc` in the view alone
 */
export function firstProcess(options: {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly etc: string
}): FirstProcess {
  const variables = Object.entries(options.env).map(([name, value]) => `${name}=${value}`)
  return {
    argv: ['/usr/bin/perl', '-e', script, '--', ...options.argv],
    extraFds: new Map<number, DescriptorSource>([
      [ordersDescriptor, encode([options.etc, options.cwd, ...variables])],
      [reportDescriptor, 'pipe'],
      [errorDescriptor, 'pipe'],
    ]),
  }
}

function encode(fields: readonly string[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field)
      const length = Buffer.alloc(4)
      length.writeUInt32LE(bytes.length)
      return [length, bytes]
    }),
  )
}

/** The first process's report so far. */
export interface FirstReport {
  readonly started: boolean
  readonly failure?: { readonly step: string; readonly errno: number } | undefined
  readonly ending?: { readonly exitCode: number | null; readonly signal: number | null } | undefined
}

export function parseReport(text: string): FirstReport {
  const failure = /^fail (\w+) (\d+)$/m.exec(text)
  const exit = /^exit (\d+)$/m.exec(text)
  const signal = /^signal (\d+)$/m.exec(text)
  return {
    started: /^started$/m.test(text),
    failure: failure ? { step: failure[1] ?? '', errno: Number(failure[2]) } : undefined,
    ending: exit
      ? { exitCode: Number(exit[1]), signal: null }
      : signal
        ? { exitCode: null, signal: Number(signal[1]) }
        : undefined,
  }
}

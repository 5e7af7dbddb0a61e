import type { DescriptorSource, ExtraDescriptors } from '../run/types.ts'

/** The descriptor on which a command gets its terminal. One digit, as every descriptor that a shell script names. */
export const terminalDescriptor = 6

/**
 * Leads the session inside the sandbox: takes the terminal as the controlling one, starts the command on it, and waits.
 *
 * The command is not the leader itself, since the kernel hangs a terminal up when the leader that has it ends: unread
 * output need not be kept then, and no process can write to it any more. This leader gives the terminal up first. It
 * sits signals out: those of the terminal are for the command.
 */
const script = String.raw`
my ($setsid, @argv) = @ARGV;
sub failed { syswrite(STDERR, "no terminal: $_[0] " . ($! + 0) . "\n"); exit 125 }
my @all = qw(HUP INT QUIT TERM USR1 USR2 TSTP TTIN TTOU);
syscall($setsid) >= 0 or failed('session');
open(my $tty, '+<&=', 6) or failed('descriptor');
ioctl($tty, 0x540E, 0) or failed('control');
$SIG{$_} = sub {} for @all;
my $pid = fork(); defined $pid or failed('fork');
if (!$pid) { $SIG{$_} = 'DEFAULT' for @all;
  open(STDIN, '<&', 6) && open(STDOUT, '>&', 6) && open(STDERR, '>&', 6) or exit 126; close($tty);
  no warnings; exec { $argv[0] } @argv; exit 127 }
my $r; do { $r = waitpid($pid, 0) } while $r < 0 && $! == 4; my $status = $?;
$SIG{HUP} = 'IGNORE'; ioctl($tty, 0x5422, 0); close($tty);
if (my $signal = $status & 127) { $SIG{$_} = 'DEFAULT' for @all; kill($signal, $$); exit(128 + $signal) }
exit($status >> 8)`

// Meant for the command, and not for the interpreter that leads its session.
const forCommandOnly = /^(?:PERL|LD_)/
const setsidNumber = process.arch === 'arm64' ? 157 : 112

export interface TerminalCommand {
  readonly argv: readonly string[]
  readonly env: Record<string, string>
  readonly extraFds: ExtraDescriptors
}

/**
 * Puts a command on a terminal: to be started in place of `argv`, inside the same confinement.
 *
 * @param terminal the slave's descriptor in this process
 */
export function terminalCommand(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  terminal: number,
): TerminalCommand {
  const entries = Object.entries(env)
  const own = entries.filter(([name]) => forCommandOnly.test(name)).map(([name, value]) => `${name}=${value}`)
  const command = own.length === 0 ? argv : ['/usr/bin/env', '--', ...own, ...argv]
  return {
    argv: ['/usr/bin/perl', '-e', script, '--', String(setsidNumber), ...command],
    env: Object.fromEntries(entries.filter(([name]) => !forCommandOnly.test(name))),
    extraFds: new Map<number, DescriptorSource>([[terminalDescriptor, terminal]]),
  }
}

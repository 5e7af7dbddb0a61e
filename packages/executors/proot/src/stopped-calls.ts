import type { ProbeReport } from '@ws/core/executor'

/** Number of test calls. The calls have no path argument. proot stops at them only if it was built without its seccomp filter. */
const calls = 300
/** The call number of `getrusage`. */
const callNumber = process.arch === 'arm64' ? 165 : 98

/**
 * Shell code that counts how often proot stops such calls. Each stop causes two process switches, and load does not change their number.
 * The number of switches (`ru_nvcsw`) is at byte 128 of `struct rusage`.
 */
export const countStops = `/usr/bin/perl -e '
  sub count { my $usage = "\\0" x 144; syscall(${callNumber}, 0, $usage); unpack "x128 q", $usage }
  my $before = count(); getppid for 1..${calls}; print count() - $before, "\\n"'`

/** @param count the output of {@link countStops} */
export function stoppedCallsOf(count: number): NonNullable<ProbeReport['details']['stoppedCalls']> {
  return count >= calls ? 'all' : 'some'
}

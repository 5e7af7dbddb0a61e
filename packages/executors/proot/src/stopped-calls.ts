import type { ProbeReport } from '@ws/core/executor'

/** Number of test calls. These calls have no path: proot stops at them only if it was built without its filter. */
const calls = 300
/** The number of `getrusage`, by architecture. */
const callNumber = process.arch === 'arm64' ? 165 : 98

/**
 * Shell code that counts stops by {@link calls} such calls. Each stop switches to the tracer twice, so load does not matter.
 * The count (`ru_nvcsw`) lies 128 bytes into `struct rusage`.
 */
export const countStops = `/usr/bin/perl -e '
  sub count { my $usage = "\\0" x 144; syscall(${callNumber}, 0, $usage); unpack "x128 q", $usage }
  my $before = count(); getppid for 1..${calls}; print count() - $before, "\\n"'`

/** @param count the output of {@link countStops} */
export function stoppedCallsOf(count: number): NonNullable<ProbeReport['details']['stoppedCalls']> {
  return count >= calls ? 'all' : 'some'
}

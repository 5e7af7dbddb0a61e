import type { ProbeDetails } from '@ws/core/executor'

/** Calls that name no path: proot has no need to see them, and stops at them where it is built without its filter. */
const calls = 300
/** The number of `getrusage`, by architecture. */
const callNumber = process.arch === 'arm64' ? 165 : 98

/**
 * For a POSIX shell: prints how often a process was put to sleep by {@link calls} such calls. At each stop the kernel turns
 * to the tracer, on the way in and on the way out; so load changes nothing in what is counted. The count (`ru_nvcsw`) lies
 * 128 bytes into `struct rusage`.
 */
export const countStops = `/usr/bin/perl -e '
  sub count { my $usage = "\\0" x 144; syscall(${callNumber}, 0, $usage); unpack "x128 q", $usage }
  my $before = count(); getppid for 1..${calls}; print count() - $before, "\\n"'`

/** @param count what {@link countStops} has printed */
export function stoppedCallsOf(count: number): NonNullable<ProbeDetails['stoppedCalls']> {
  return count >= calls ? 'all' : 'some'
}

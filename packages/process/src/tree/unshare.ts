/**
 * A prefix that puts a command into a PID namespace of its own, as an ordinary user: when it ends or is killed, the
 * kernel ends everything in it.
 *
 * @returns `['/usr/bin/unshare', '-Urpf', '--kill-child', '--mount-proc', '--', …argv]`, or without user namespace for root
 */
export function unshareArguments(_argv: readonly string[]): string[] {
  throw new Error('not written yet')
}

/** True if {@link unshareArguments} works here: it is run once. Never throws. */
export async function probeUnshare(_options: { readonly signal?: AbortSignal | undefined } = {}): Promise<boolean> {
  throw new Error('not written yet')
}

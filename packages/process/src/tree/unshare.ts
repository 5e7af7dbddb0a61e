import { invalid } from '../run/validate.ts'
import { startProcess } from '../run/start.ts'

const unshare = '/usr/bin/unshare'

/**
 * A prefix that puts a command into a PID namespace of its own: when it ends or is killed, the kernel ends everything in
 * it. As an ordinary user it takes a user namespace as well, in which the command is root over nothing but itself.
 *
 * @returns `['/usr/bin/unshare', '-Urpf', '--kill-child', '--mount-proc', '--', …argv]`; as root without `-Ur`
 * @throws WorkspaceError `EINVAL` for an empty argv
 */
export function unshareArguments(argv: readonly string[]): string[] {
  if (argv.length === 0) throw invalid('exec', 'the command is an empty array')
  return [unshare, process.getuid?.() === 0 ? '-pf' : '-Urpf', '--kill-child', '--mount-proc', '--', ...argv]
}

/** True if {@link unshareArguments} works here: it is run once. Never throws. */
export async function probeUnshare(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<boolean> {
  try {
    const argv = unshareArguments(['/bin/true'])
    return (await startProcess({ argv, timeout: 5_000, signal: options.signal }).wait()).exitCode === 0
  } catch {
    return false
  }
}

import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

import { spawnChild } from './spawn.ts'

export const perl = '/usr/bin/perl'

/** A helper process in perl, without environment variables. Ends at the end of its input. Keeps this process alive only after `hold`. */
export interface PerlHelper {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  hold(): void
  release(): void
}

/** @throws the system's error if no descriptors are left */
export function startPerlHelper(script: string, parameters: readonly string[] = []): PerlHelper {
  const child = spawnChild<ChildProcessByStdio<Writable, Readable, null>>(perl, ['-e', script, ...parameters], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
    cwd: '/',
    detached: true,
  })
  const parts = [child, child.stdin, child.stdout] as readonly Partial<Pick<ChildProcess, 'ref' | 'unref'>>[]
  const hold = () => parts.forEach((part) => part.ref?.())
  const release = () => parts.forEach((part) => part.unref?.())
  child.stdin.on('error', () => undefined) // the end of the process is reported instead
  release()
  return { child, hold, release }
}

import { readFileSync, statSync } from 'node:fs'

import { execError } from '@ws/core/executor'
import { Processes } from '@ws/sandbox'

/** A network namespace with only a loopback, and the process that holds it. Commands enter it, and have no right over it. */
export interface HeldNetwork {
  readonly pid: number
  /** Distinguishes the process from a later one with the same number. */
  readonly startTime: string
  /** `net:[4026532179]` */
  readonly name: string
}

const enter = readFileSync(new URL('enter.pl', import.meta.url), 'utf8')
/** The number of `setns`. */
export const setns: Readonly<Record<string, number>> = { x64: 308, arm64: 268 }

/** The start of a command line whose program runs in a held network, or not at all. */
export function enterArguments({ pid, startTime, name }: HeldNetwork): string[] {
  return [Processes.perl, '-e', enter, String(setns[process.arch]), String(pid), startTime, name]
}

let ownDevices: number | undefined

/**
 * Refuses a process in the network of this machine. Each network has its own file of devices, and every user may look it up.
 * @throws WorkspaceError `ENOEXEC`; the system's error when the process has ended
 */
export function checkNotShared({ pid }: { readonly pid: number }): void {
  const devicesOf = (process: string) => statSync(`/proc/${process}/net/dev`).ino
  if (devicesOf(String(pid)) !== (ownDevices ??= devicesOf('self'))) return
  throw execError('ENOEXEC', 'the sandbox is in the network of this machine, so the command was not run', {
    remedy: 'look with `ws doctor -v` for the version of bubblewrap, and tell the operator',
  })
}

import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** To spare: threads of this process may open files meanwhile, and commands that run may start processes. */
const slack = 8

/** Requires this many free descriptors: Node leaks some where they run out at a start. @throws `EMFILE` or `ENFILE` */
export function requireDescriptors(count: number): void {
  const opened: number[] = []
  try {
    while (opened.length < count + slack) opened.push(openSync('/dev/null', 'r'))
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

/** For a terminal: its first process and a thread, and one more for the shell that looks for them. */
const needed = 3

/**
 * Checks that this user can start a terminal's processes and threads: a library thread that cannot start ends this process.
 * Asks for twice as many, since others can take some in between.
 * @throws the system's error, `EAGAIN`, `ENOMEM` or one of too few descriptors
 */
export function requireProcesses(): void {
  // Those that have ended count until they are waited for, also when the shell ends as it cannot start another.
  const script = `trap wait EXIT; ${': & '.repeat(needed + slack - 1)}`
  const { error, status } = spawnSync('/bin/sh', ['-c', script], { stdio: 'ignore', env: {} })
  if (error !== undefined) throw error
  if (status !== 0) throw Object.assign(new Error('too few processes'), { code: 'EAGAIN', syscall: 'spawn' })
}

let spare: number | undefined

/** Runs a task on a reserved descriptor if the process has none left, so that children can still be found and killed. */
export function withSpareDescriptor<T>(use: () => T): T {
  spare ??= openSpare()
  try {
    return use()
  } catch (error) {
    if (spare === undefined || !isShort(error)) throw error
    closeSync(spare)
    spare = undefined
    try {
      return use()
    } finally {
      spare = openSpare()
    }
  }
}

function openSpare(): number | undefined {
  try {
    return openSync('/dev/null', 'r')
  } catch {
    return undefined // the next use tries again
  }
}

export function isShort(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE')
}

import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** Spare descriptors, because threads may open files and commands may start processes. */
const slack = 8

/** Requires free descriptors: if they run out, Node leaks some. @throws `EMFILE` or `ENFILE` */
export function requireDescriptors(count: number): void {
  const opened: number[] = []
  try {
    while (opened.length < count + slack) opened.push(openSync('/dev/null', 'r'))
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

/** A terminal's first process, a thread, and the shell of this check. */
const needed = 3

/**
 * Checks that this user can start a terminal's processes and threads: a library thread that cannot start ends this process.
 * Asks for a few more, since others can take some. @throws the system's error, such as `EAGAIN`
 */
export function requireProcesses(): void {
  // Ended processes count until the shell waits for them, also if the shell ends early.
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

import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** Spare descriptors or processes, since other programs may take some at the same time. */
const slack = 8

/** Requires free descriptors: Node leaks some if they run out. @throws `EMFILE` or `ENFILE` */
export function requireDescriptors(count: number): void {
  const opened: number[] = []
  try {
    while (opened.length < count + slack) opened.push(openSync('/dev/null', 'r'))
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

/** Number of processes and threads: a terminal's first process, a thread, and the shell of this check. */
const needed = 3

/**
 * Checks that this user can start the processes and threads of a terminal. Without a thread for the library, this process would end.
 * Checks for a few more, since other programs may start some. @throws the system's error, such as `EAGAIN`
 */
export function requireProcesses(): void {
  // Ended processes count until the shell waits for them. The trap waits even if the shell ends early.
  const script = `trap wait EXIT; ${': & '.repeat(needed + slack - 1)}` // @defence ` + slack` too few processes
  const { error, status } = spawnSync('/bin/sh', ['-c', script], { stdio: 'ignore', env: {} })
  if (error !== undefined) throw error
  if (status !== 0) throw Object.assign(new Error('too few processes'), { code: 'EAGAIN', syscall: 'spawn' })
}

let spare: number | undefined

/** Runs a task on a reserved descriptor if no other is left, so that children can still be found and killed. */
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

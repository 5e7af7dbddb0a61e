import { closeSync, constants, openSync, writeSync } from 'node:fs'

import type { Descriptors, DescriptorSource, RunningProcess } from '@ws/sandbox'

import { descriptors } from '../processes/first-process.ts'

/** How bubblewrap gets its options: until their end, it does nothing. */
export interface OptionPipe {
  /** Completes them, where they are in a pipe: it goes to work at once. */
  complete(): void
  /** Sends them, where they are not. */
  send(running: RunningProcess): void
  /** Closes what is still open here. */
  close(): void
}

/**
 * Puts bubblewrap's options into a pipe before it is started, so that little is left to do then. Without a pipe, or
 * with more than it holds, they go into the socket that Node makes.
 *
 * The last one is held back. If this process is killed before it writes it, bubblewrap finds an option without its value
 * and ends. With complete options, it would start the command: a dying process closes what it has open some time before
 * its children learn of its death.
 *
 * @param options each with a NUL after it; the last one is the value of the one before
 * @param pipe is closed here
 * @param extraFds gets the descriptor that they come by
 */
export function optionPipe(
  options: Uint8Array,
  pipe: Descriptors.PipePair | undefined,
  extraFds: Map<number, DescriptorSource>,
): OptionPipe {
  const last = options.lastIndexOf(0, -2) + 1
  const filled = pipe && fill(pipe, options.subarray(0, last))
  if (filled === undefined) {
    extraFds.set(descriptors.arguments, 'pipe')
    const send = (running: RunningProcess) => void running.pipes.get(descriptors.arguments)?.end(options)
    return { complete: () => undefined, send, close: () => undefined }
  }
  extraFds.set(descriptors.arguments, filled.read)
  const open = new Set([filled.read, filled.write])
  const close = (fd: number) => void (open.delete(fd) && closeSync(fd))
  return {
    complete() {
      writeSync(filled.write, options.subarray(last))
      close(filled.write)
    },
    send: () => undefined,
    close() {
      for (const fd of open) close(fd)
    },
  }
}

/**
 * @returns `undefined` when the pipe cannot hold all of it: the size of pipes differs, and nothing reads this one yet
 */
function fill({ read, write }: Descriptors.PipePair, content: Uint8Array): Descriptors.PipePair | undefined {
  let writable: number | undefined
  try {
    writable = openSync(`/proc/self/fd/${write}`, constants.O_WRONLY | constants.O_NONBLOCK)
    if (writeSync(writable, content) === content.length) return { read, write: writable }
  } catch {
    // Full at once.
  } finally {
    closeSync(write)
  }
  for (const fd of [read, writable]) if (fd !== undefined) closeSync(fd)
  return undefined
}

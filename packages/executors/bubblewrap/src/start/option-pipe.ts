import { closeSync, constants, openSync, writeSync } from 'node:fs'

import type { Descriptors, DescriptorSource, RunningProcess } from '@ws/sandbox'

import { descriptors } from '../processes/first-process.ts'

/** Passes options to bubblewrap, which waits for the end of the options. */
export interface OptionPipe {
  /** Writes the rest of the options into the pipe. bubblewrap then starts to work. */
  complete(): void
  /** Sends the options by the socket, if there is no pipe. */
  send(running: RunningProcess): void
  close(): void
}

/**
 * Puts bubblewrap's options into a pipe before the start, to save time. Without a pipe, or beyond its size, uses a socket.
 * Holds the value of the last option back: if this process is killed first, bubblewrap fails because of the missing value.
 * With complete options, bubblewrap would run the command: a dying process closes its descriptors before its children notice its death.
 * @param options each with a NUL at its end; the last is the value of the option before
 * @param pipe closed here @param extraFds receives the options' descriptor
 */
export function optionPipe(
  options: Uint8Array,
  pipe: Descriptors.PipePair | undefined,
  extraFds: Map<number, DescriptorSource>,
): OptionPipe {
  const last = options.lastIndexOf(0, -2) + 1
  const filled = pipe && writeWhole(pipe, options.subarray(0, last))
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

/** @returns `undefined` if the pipe cannot take the content: pipe sizes differ, and no process reads this pipe yet */
function writeWhole({ read, write }: Descriptors.PipePair, content: Uint8Array): Descriptors.PipePair | undefined {
  let writable: number | undefined
  try {
    writable = openSync(`/proc/self/fd/${write}`, constants.O_WRONLY | constants.O_NONBLOCK)
    if (writeSync(writable, content) === content.length) return { read, write: writable }
  } catch {
    // The pipe is full.
  } finally {
    closeSync(write)
  }
  for (const fd of [read, writable]) if (fd !== undefined) closeSync(fd)
  return undefined
}

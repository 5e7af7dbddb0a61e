import { fstatSync, readFileSync, readlinkSync } from 'node:fs'

import { StreamError, UsageError } from '../errors.ts'

/** Standard input as bytes. @throws UsageError for a closed input or a directory; the stream itself throws StreamError */
export function standardInput(remedy: string): AsyncIterable<Uint8Array> {
  if (isClosed(0)) throw new UsageError(`standard input is closed; ${remedy}`)
  // Node would treat a directory as an empty input
  if (fstatSync(0).isDirectory()) throw new UsageError(`standard input is a directory; ${remedy}`)
  return readInput()
}

async function* readInput(): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of process.stdin) yield chunk as Uint8Array
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    throw new StreamError(`standard input cannot be read (${code}); give it a file or a pipe`)
  }
}

/** True if a standard stream was closed: Node then opens `/dev/null` instead, for reading *and* writing. */
export function isClosed(descriptor: 0 | 1): boolean {
  try {
    if (readlinkSync(`/proc/self/fd/${descriptor}`) !== '/dev/null') return false
    const flags = /^flags:\s*(\d+)/mu.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '0'
    return (Number.parseInt(flags, 8) & 3) === 2
  } catch {
    return false
  }
}

import { FileError } from '@ws/shell-tools/files'
import type { CommandRequest } from '@ws/core/executor'

/** Reads a command's whole input. A failing source ends the input early, as a pipe does. @throws FileError `EFBIG`; the signal's reason */
export async function collectInput(
  input: CommandRequest['stdin'] | undefined,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Uint8Array | undefined> {
  if (input === undefined) return undefined
  if (typeof input === 'string' || input instanceof Uint8Array) {
    const bytes = Buffer.from(input as string)
    if (bytes.length > maxBytes) throw new FileError('EFBIG', 'read', '/dev/stdin')
    return bytes
  }
  signal.throwIfAborted()
  const chunks: Uint8Array[] = []
  let size = 0
  const iterator = input[Symbol.asyncIterator]()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  aborted.promise.catch(() => undefined) // the race below receives the error
  signal.addEventListener('abort', abort, { once: true })
  try {
    for (;;) {
      const next = await Promise.race([iterator.next().catch(() => undefined), aborted.promise]) // a failing source ends the input early
      if (next === undefined || next.done === true) break
      size += next.value.length
      if (size > maxBytes) throw new FileError('EFBIG', 'read', '/dev/stdin')
      chunks.push(Uint8Array.from(next.value))
    }
  } catch (error) {
    void iterator.return?.()?.catch(() => undefined) // the first failure is reported
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
  return Buffer.concat(chunks)
}

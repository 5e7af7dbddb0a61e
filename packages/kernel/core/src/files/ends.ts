import type { StorageAdapter } from '../contract/adapter.ts'
import type { ByteRange, Stat } from '../contract/file-types.ts'
import type { LastBytes } from '../contract/file-door.ts'
import type { Located } from '../mount/gate.ts'
import { virtualError } from '../mount/errors.ts'

/** Maximum number of attempts, if the file size changes before the read. */
const mostTries = 20

/** Reads the last bytes of a file. The size may change before the read, so the stat of the read decides. */
export async function readEnd<Result extends { readonly stat: Stat }>(
  adapter: StorageAdapter,
  { path, virtual }: Located,
  { last }: LastBytes,
  signal: AbortSignal | undefined,
  read: (range: ByteRange) => Promise<Result>,
  release?: (result: Result) => Promise<unknown>,
): Promise<Result> {
  let { size } = await adapter.stat(path, { signal })
  for (let tries = 0; tries < mostTries; tries += 1) {
    const offset = Math.max(0, size - last)
    const result = await read({ offset, length: last })
    size = result.stat.size
    if (Math.max(0, size - last) === offset) return result
    await release?.(result)
  }
  throw virtualError({
    code: 'EBUSY',
    operation: 'read',
    path: virtual,
    reason: 'keeps changing its size',
    remedy: 'try again, or read it from its start',
  })
}

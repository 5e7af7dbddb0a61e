import { WorkspaceError } from '@ws/core'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { createReadStream } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Task } from '../client/requests.ts'
import { telling } from '../client/transport.ts'
import type { PartReader } from './content.ts'
import type { PutBody } from './put.ts'

/** The size limit of one PUT. */
export const maxPutBytes = 5 * 1024 ** 3

/** Stores a body in a private temporary file, for servers with conditions only on PUTs of known length. Call `remove` at the end. */
export async function spool(
  reader: PartReader,
  first: Uint8Array,
  { operation, path, signal }: Task,
): Promise<{ readonly body: PutBody; readonly remove: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'ws-s3-'))
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true })
  try {
    const file = join(directory, 'body')
    const hash = createHash('md5')
    let bytes = 0
    let checksum = 0
    const handle = await open(file, 'wx', 0o600)
    try {
      for (let part = first; part.length > 0; part = await reader.next()) {
        signal?.throwIfAborted()
        bytes += part.length
        if (bytes > maxPutBytes) {
          const reason = 'is larger than what the store takes in one piece, as the condition needs it'
          throw new WorkspaceError({ code: 'EFBIG', operation, path, reason, remedy: 'write it without `ifVersion`' })
        }
        hash.update(part)
        checksum = crc32(part, checksum)
        await handle.writeFile(part)
        reader.recycle(part)
        if (reader.ended) break
      }
    } finally {
      await handle.close()
    }
    const digest = hash.digest()
    return {
      body: {
        bytes,
        open: (gone) => telling(createReadStream(file), gone),
        md5: digest.toString('base64'),
        crc32: checksum,
        digest: () => digest.toString('hex'),
      },
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

import { unlessMissing } from './disk.ts'

/** MD5 of a file of the cache, in hexadecimal; `undefined` if the file is gone. */
export async function hashOf(file: string): Promise<string | undefined> {
  const hash = createHash('md5')
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array)
    return hash.digest('hex')
  } catch (error) {
    // rclone loses content that gets the name of a removed directory
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return undefined
    return unlessMissing(error)
  }
}

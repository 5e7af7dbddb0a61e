import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** MD5 of a file of the cache, in hexadecimal; `undefined` if the file is gone. */
export async function hashOf(file: string): Promise<string | undefined> {
  const hash = createHash('md5')
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array)
    return hash.digest('hex')
  } catch {
    return undefined
  }
}

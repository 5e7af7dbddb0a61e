import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { BackgroundDigest } from '../src/objects/verify/background.ts'
import { EtagDigest } from '../src/objects/verify/etag-digest.ts'

const MiB = 1024 * 1024
const run = promisify(execFile)

/** As S3 makes it: of the bytes, or of the checksums of the parts. */
function etagOf(bytes: Uint8Array, partBytes: number | undefined): string {
  const md5 = (of: Uint8Array): Buffer => createHash('md5').update(of).digest()
  if (partBytes === undefined) return md5(bytes).toString('hex')
  const parts: Buffer[] = []
  for (let start = 0; start < bytes.length; start += partBytes)
    parts.push(md5(bytes.subarray(start, start + partBytes)))
  return `${md5(Buffer.concat(parts)).toString('hex')}-${parts.length}`
}

describe('the checksum of what comes', () => {
  const content = randomBytes(5 * MiB + 17)
  const ways = [
    ['here', (partBytes: number | undefined) => new EtagDigest(partBytes)],
    ['in the background', (partBytes: number | undefined) => new BackgroundDigest(partBytes)],
  ] as const

  it.each(ways)('is the ETag, for chunks and parts of any size, made %s', async (_, create) => {
    for (const partBytes of [undefined, MiB, 300_001, 5 * MiB, 6 * MiB]) {
      for (const chunkBytes of [65_536, 99_991, 3 * MiB, content.length]) {
        const digest = create(partBytes)
        for (let start = 0; start < content.length; start += chunkBytes) {
          const chunk = content.subarray(start, start + chunkBytes)
          await digest.update(chunk)
        }
        expect(await digest.digest(), `parts of ${partBytes}, chunks of ${chunkBytes}`).toBe(etagOf(content, partBytes))
      }
    }
  })

  it('is that of each of many streams at a time, also beside one that is given up', async () => {
    const streams = Array.from({ length: 8 }, async (_, index) => {
      const own = content.map((byte) => byte ^ index)
      const digest = new BackgroundDigest(MiB)
      for (let start = 0; start < own.length; start += MiB) {
        await digest.update(own.subarray(start, start + MiB))
        if (index === 3 && start > MiB) return digest.drop()
      }
      expect(await digest.digest()).toBe(etagOf(own, MiB))
    })
    await Promise.all(streams)
  })

  it('leaves the chunks to those who get them, and takes little memory ahead of the thread', async () => {
    const digest = new BackgroundDigest(undefined)
    const chunk = new Uint8Array(64 * MiB).fill(1)
    const taking = digest.update(chunk)
    expect(taking, 'it waits until the thread has taken what came').toBeInstanceOf(Promise)
    await taking
    expect(chunk.length).toBe(64 * MiB)
    expect(await digest.digest()).toBe(etagOf(chunk, undefined))
  })

  it('is missing when the thread ends, and nobody waits for it', async () => {
    const digest = new BackgroundDigest(undefined)
    digest.fail(new Error('gone'))
    await expect(
      (async () => {
        for (;;) await digest.update(new Uint8Array(MiB))
      })(),
    ).rejects.toThrow('gone')
    await expect(digest.digest()).rejects.toThrow('gone')
    digest.drop()
  })

  it('keeps no process alive that waits for nothing, and one that waits', async () => {
    const background = new URL('../src/objects/verify/background.ts', import.meta.url).href
    const script = (rest: string): string[] => [
      '--input-type=module',
      '-e',
      `const { BackgroundDigest } = await import('${background}')
       const digest = new BackgroundDigest(undefined)
       await digest.update(new Uint8Array(8 * 1024 * 1024))
       ${rest}`,
    ]
    const limits = { timeout: 60_000 }
    expect((await run(process.execPath, script(`console.log('left')`), limits)).stdout).toBe('left\n')
    const asked = await run(process.execPath, script('console.log(await digest.digest())'), limits)
    expect(asked.stdout).toBe(`${etagOf(new Uint8Array(8 * MiB), undefined)}\n`)
  })
})

import { Readable } from 'node:stream'

import fc from 'fast-check'
import { pack } from 'tar-stream'
import { expect, it } from 'vitest'

import { digestOf, readRecords } from '../src/remote/listing.ts'
import { decodeBase64, Reader } from '../src/remote/reader.ts'
import { Checked, readArchive } from '../src/remote/unpack.ts'

const record = (path: string) => Buffer.from(`f 644 1 2 3.0 4.0 /${path}//\0`, 'latin1')

it.each(['/etc/passwd', '../tmp/x', 'a/../b', './a', 'a/.', 'a/./b', '', '.', '..'])(
  'believes no machine that lists %j as a file of the workspace',
  (path) => {
    expect(() => readRecords(record(path))).toThrow(/names files outside the workspace|cannot be read/u)
  },
)

it.each(['g 644 1 2 3 4 /a//\0', 'f 644 1 2 3 4 /a//', 'f 9 1 2 3 4 /a//\0', '\0', 'f 644 1 2 3 4 /a\0'])(
  'refuses a list with the record %j',
  (list) => {
    expect(() => readRecords(Buffer.from(list))).toThrow(/list/u)
  },
)

it('takes a path up to the first `//`, and a target with anything', () => {
  const [seen] = readRecords(Buffer.from('l 777 5 6.0 /a\nb/c///x//y\n\0', 'latin1'))
  expect(seen).toMatchObject({ key: 'a\nb/c', target: '/x//y\n', type: 'symlink' })
})

async function taken(archive: AsyncIterable<Uint8Array>, expected: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { key, bytes } of readArchive(archive, new Set(expected))) {
    const chunks: Uint8Array[] = []
    for await (const chunk of bytes) chunks.push(chunk)
    found[key] = `${found[key] ?? ''}${Buffer.concat(chunks).toString()}`
  }
  return found
}

it('passes over everything in an archive but the expected files, each once', async () => {
  const archive = pack()
  archive.entry({ name: '/etc/passwd' }, 'absolute')
  archive.entry({ name: './../a' }, 'above')
  archive.entry({ name: 'a' }, 'bare')
  archive.entry({ name: './a', type: 'symlink', linkname: '/etc/passwd' })
  archive.entry({ name: './a', type: 'link', linkname: './b' })
  archive.entry({ name: './a', type: 'character-device', devmajor: 1, devminor: 3 })
  archive.entry({ name: './a', type: 'fifo' })
  archive.entry({ name: './a', type: 'directory' })
  archive.entry({ name: './a' }, 'first')
  archive.entry({ name: './a' }, 'second')
  archive.entry({ name: './extra' }, 'extra')
  archive.entry({ name: `./${'d/'.repeat(100)}b` }, 'long')
  archive.finalize()
  expect(
    await taken(archive as AsyncIterable<unknown> as AsyncIterable<Uint8Array>, [
      'a',
      `${'d/'.repeat(100)}b`,
      'missing',
    ]),
  ).toEqual({
    a: 'first',
    [`${'d/'.repeat(100)}b`]: 'long',
  })
})

it('ends at bytes that are no archive, and at an archive that is cut', async () => {
  const archive = pack()
  archive.entry({ name: './a' }, 'x'.repeat(3_000))
  archive.entry({ name: './b' }, 'y'.repeat(3_000))
  archive.finalize()
  const bytes = Buffer.concat(await Array.fromAsync(archive as AsyncIterable<Uint8Array>))
  for (const length of [100, 511, 600, 2_000, 4_000]) {
    const reading = taken(Readable.from([bytes.subarray(0, length)]), ['a', 'b'])
    await reading.then(
      (found) => expect(found).not.toHaveProperty('b'),
      () => undefined,
    )
  }
  await expect(taken(Readable.from([Buffer.alloc(2_048, 'z')]), ['a'])).rejects.toThrow()
})

it.each([
  ['more', 'abcd', 3],
  ['fewer', 'ab', 3],
  ['other', 'abd', 3],
])('does not end well for a file whose bytes are others: %s than announced', async (_title, bytes, size) => {
  const content = new Checked(Readable.from([Buffer.from(bytes)]), size, digestOf(Buffer.from('abc')))
  await expect(Array.fromAsync(content)).rejects.toThrow(/announced/u)
  expect(content.isTorn).toBe(true)
})

it('finds messages however output is cut, and keeps everything before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 60 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (bytes, cuts) => {
        const marker = 'ws-marker:'
        const all = Buffer.concat([bytes, Buffer.from('ws-ws-mark'), Buffer.from(`${marker}end 1\n`), bytes])
        async function* pieces() {
          for (let at = 0, turn = 0; at < all.length; turn += 1) {
            const length = cuts[turn % cuts.length] ?? 1
            yield all.subarray(at, at + length)
            at += length
          }
        }
        const reader = new Reader(pieces())
        const before: Uint8Array[] = []
        expect(await reader.until(marker, (chunk) => void before.push(Buffer.from(chunk)))).toBe(true)
        expect(await reader.line()).toBe('end 1')
        expect(Buffer.concat(before)).toEqual(Buffer.concat([bytes, Buffer.from('ws-ws-mark')]))
        expect(Buffer.concat(await Array.fromAsync(reader.rest()))).toEqual(Buffer.from(bytes))
      },
    ),
    { numRuns: 200 },
  )
})

it('takes no list that announces more than fits, and no base64 that is odd', async () => {
  let pulled = 0
  async function* endless() {
    for (; pulled < 1_000; pulled += 1) yield Buffer.alloc(1_024)
  }
  expect(await new Reader(endless()).take(1e12)).toBeUndefined()
  expect(pulled).toBe(0)
  const decoded = await Array.fromAsync(
    decodeBase64(Readable.from([Buffer.from('aGVs'), Buffer.from('b'), Buffer.from('G8=')])),
  )
  expect(Buffer.concat(decoded).toString()).toBe('hello')
})

import { deflateRawSync } from 'node:zlib'

import { describeType } from '@ws/documents'
import { textPdf } from '@ws/test-fixtures/pdf'
import { describe, expect, it } from 'vitest'

describe('describeType', () => {
  it('[FS2] names a PDF and an image by their content', async () => {
    expect(await describeType(textPdf(['hello']))).toEqual({ mime: 'application/pdf', extension: 'pdf' })
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
    expect(await describeType(png)).toMatchObject({ mime: 'image/png' })
  })

  it.each([
    ['text', Buffer.from('hello\n')],
    ['an empty file', Buffer.alloc(0)],
    ['random bytes', Buffer.from([1, 2, 3, 4, 5])],
  ])('knows no type of %s', async (_, bytes) => {
    expect(await describeType(bytes)).toBeUndefined()
  })

  it('answers for the cut head of an archive, and for a bomb in it', async () => {
    const content = deflateRawSync(Buffer.alloc(50_000_000))
    const header = Buffer.alloc(30)
    header.write('PK\u0003\u0004', 'latin1')
    header.writeUInt16LE(8, 8)
    header.writeUInt32LE(content.length, 18)
    header.writeUInt32LE(50_000_000, 22)
    const name = Buffer.from('[Content_Types].xml')
    header.writeUInt16LE(name.length, 26)
    const archive = Buffer.concat([header, name, content])
    expect(await describeType(archive)).toMatchObject({ mime: 'application/zip' })
    expect(await describeType(archive.subarray(0, 40))).toMatchObject({ mime: 'application/zip' })
  })
})

import { rules } from '@ws/core'
import { gif, jpeg, png, webp } from '@ws/test-fixtures/images'
import { textPdf } from '@ws/test-fixtures/pdf'
import { createTools, type ToolAnswer } from '@ws/tools'
import { readImage } from '@ws/tools/bridge'
import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import { afterAll, describe, expect, it } from 'vitest'

import { done, files, refused } from './support/calls.ts'
import { workspaceWith, type Files } from './support/stores.ts'

afterAll(() => {
  delete process.env['VIPSHOME'] // the library of sharp sets it as it loads
})

const open = async (given: Files) => files(createTools(await workspaceWith(given)))
const bytesOf = ({ image }: ToolAnswer): Buffer => Buffer.from(image?.data ?? '', 'base64')
const noise = (side: number) => sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } })

describe('reading an image', () => {
  it.each([
    ['a.png', png(), 'image/png'],
    ['a.jpg', jpeg(), 'image/jpeg'],
    ['metadata.jpg', jpeg(200_000), 'image/jpeg'],
    ['lossy.webp', webp(), 'image/webp'],
    ['lossless.webp', webp('lossless'), 'image/webp'],
    ['transparent.webp', webp('transparent'), 'image/webp'],
    ['a.gif', gif(1, 8, 4), 'image/gif'],
    ['a png that is named.jpg', png(), 'image/png'],
    ['without a name', jpeg(), 'image/jpeg'],
  ])('[FS2] gives %s as it is, with type, pixels and bytes', async (name, bytes, type) => {
    const read = await open({ [`/${name}`]: bytes })
    const answer = await read.done('read', { path: `/${name}` })
    expect(answer.text).toMatch(/\n\[version .+\]$/u)
    expect(answer.text.split('\n')[0]).toBe(`/${name}: ${type}, 8 × 4 pixels, ${bytes.length} bytes`)
    expect(answer.image).toEqual({ mediaType: type, data: bytes.toString('base64'), width: 8, height: 4 })
    expect(answer.data).toMatchObject({ path: `/${name}`, type, width: 8, height: 4, version: expect.any(String) })
    const { text } = await read.done('inspect', { path: `/${name}` })
    expect(text).toContain(`binary (${type}${name === 'metadata.jpg' ? '' : ', 8 × 4 pixels'})`)
  })

  it.each<[string, Buffer, string]>([
    ['claims 50,000 by 50,000 pixels', png(8, 4, [50_000, 50_000]), 'EFBIG: is image/png, 50000 × 50000 pixels'],
    [
      'claims no pixels',
      png(8, 4, [0, 4]),
      `EINVAL: is image/png, ${png(8, 4, [0, 4]).length} bytes, and is cut off or broken`,
    ],
    [
      'has lost the end of its header',
      png().subarray(0, 20),
      'EINVAL: is image/png, 20 bytes, and is cut off or broken',
    ],
    ['has lost its end', png(300, 300).subarray(0, 90), 'EINVAL: is image/png, 90 bytes, and is cut off or broken'],
    ['is a JPEG without a frame', jpeg().subarray(0, 60), 'EINVAL: is image/jpeg, 60 bytes, and is cut off or broken'],
    [
      'is a JPEG of endless segments',
      Buffer.concat([Buffer.from('ffd8ffe1', 'hex'), Buffer.alloc(900_000)]),
      'EINVAL: is image/jpeg',
    ],
    [
      'is half a JPEG whose thumbnail has an end',
      Buffer.concat([Buffer.from('ffd8ffe10006ffd9ffd9', 'hex'), jpeg().subarray(2, -2)]),
      'EINVAL: is image/jpeg',
    ],
    [
      'is half a PNG whose text names the end',
      Buffer.concat([png().subarray(0, 33), Buffer.from('0000000474455874', 'hex'), Buffer.from('IEND')]),
      'EINVAL: is image/png',
    ],
    ['is a GIF without a frame', gif(0), 'EINVAL: is image/gif'],
    ['is half a WebP', webp().subarray(0, 40), 'EINVAL: is image/webp, 40 bytes, and is cut off or broken'],
    ['has a broken body', Buffer.concat([png(3000, 8).subarray(0, 41), png().subarray(-12)]), 'EINVAL: is image/png'],
    [
      'has more than 32 MiB',
      Buffer.concat([png(), Buffer.alloc(33 * 1024 * 1024)]),
      'EFBIG: is image/png, 8 × 4 pixels',
    ],
  ])('[FS2] refuses one that %s, in a sentence', async (_, bytes, words) => {
    const answer = await (await open({ '/a': bytes })).refused('read', { path: '/a' })
    const [code = '', reason = ''] = words.split(': ')
    expect(answer).toMatchObject({ data: { code } })
    expect(answer.image).toBeUndefined()
    expect(answer.text.split('\n')[0]).toMatch(/^Error: `\/a` is .{20,300}\.$/u)
    expect(answer.text).toContain(reason)
  })

  it('[FS2] scales a large image down, and says so', async () => {
    const large = await noise(2400).jpeg().toBuffer()
    const answer = await (await open({ '/a.jpg': large })).done('read', { path: '/a.jpg' })
    expect(answer.text).toMatch(
      /^\/a\.jpg: image\/jpeg, 2400 × 2400 pixels, \d+ bytes; the image is scaled down, as WebP of 2000 × 2000 pixels\n/u,
    )
    expect(answer.image).toMatchObject({ mediaType: 'image/webp', width: 2000, height: 2000 })
    expect((answer.image?.data.length ?? 0) <= 5 * 1024 * 1024).toBe(true)
    expect(await sharp(bytesOf(answer)).metadata()).toMatchObject({ format: 'webp', width: 2000, height: 2000 })
  }, 60_000)

  it('[FS2] gives the first frame of an image that moves', async () => {
    const answer = await (await open({ '/a.gif': gif(3, 1, 1) })).done('read', { path: '/a.gif' })
    expect(answer.text).toContain('; the image is the first frame, as WebP of 1 × 1 pixels')
    expect(answer.image).toMatchObject({ mediaType: 'image/webp', width: 1, height: 1 })
  })

  it('[FS2] keeps texts texts, and decides on a file of two kinds', async () => {
    const { done: read, refused: refuse } = await open({
      '/a.gif': 'GIF89a is the second version.\n',
      '/a.png': '<html></html>\n',
      '/both': Buffer.concat([png(), textPdf(['a page'])]),
      '/zip.png': Buffer.concat([png(), Buffer.from('PK\u0003\u0004')]),
      '/a.pdf': textPdf(['a page']),
    })
    expect((await read('read', { path: '/a.gif' })).text).toContain('second version')
    expect((await read('read', { path: '/a.png' })).text).toContain('<html>')
    expect((await read('read', { path: '/both' })).image?.mediaType).toBe('image/png')
    expect((await read('read_chunked', { path: '/both', pages: '1' })).text).toContain('a page')
    expect((await read('read', { path: '/zip.png' })).image?.mediaType).toBe('image/png')
    expect((await refuse('read', { path: '/a.pdf' })).text).toContain('read_chunked')
  })

  it('[FS2] follows the rules, and counts as reading that version', async () => {
    const workspace = await workspaceWith(
      { '/a.png': png(), '/secret.png': png() },
      { rules: [rules.deny('/secret.png')] },
    )
    const tools = createTools(workspace, { requireReadBeforeWrite: true })
    const call = (operation: string, given: object) => ({ operation, ...given })
    const denied = await refused(tools, 'file_system', call('read', { path: '/secret.png' }))
    expect(denied.image).toBeUndefined()
    await refused(tools, 'file_system', call('write', { path: '/a.png', content: 'x' }))
    const { data } = await done(tools, 'file_system', call('read', { path: '/a.png' }))
    expect(data?.['version']).toBe((await workspace.stat('/a.png')).version)
    await done(tools, 'file_system', call('write', { path: '/a.png', content: 'x' }))
  })

  it.each([
    ['claude-code', 'Read', { file_path: '/a.png' }],
    ['anthropic', 'read', { file_path: '/a.png' }],
    ['anthropic', 'str_replace_based_edit_tool', { command: 'view', path: '/a.png' }],
    ['split', 'read', { path: '/a.png' }],
    ['openai', 'view_image', { path: '/a.png' }],
  ] as const)('[FS2] is done by the face %s with %s', async (face, tool, input) => {
    const { executors } = await virtual()
    const tools = createTools(await workspaceWith({ '/a.png': png() }, { executors }), { face })
    const { text, image } = await done(tools, tool, input)
    expect(image?.data).toBe(png().toString('base64'))
    expect(text).toMatch(/^\/a\.png: image\/png, 8 × 4 pixels, \d+ bytes/u)
  })

  it('[FS2] is refused by `view_image` for another file, with a command that reads it', async () => {
    const { executors } = await virtual()
    const tools = createTools(await workspaceWith({ '/a.txt': 'text\n' }, { executors }), { face: 'openai' })
    const { text } = await refused(tools, 'view_image', { path: '/a.txt' })
    expect(text).toContain('`/a.txt` is not a PNG, JPEG, GIF or WebP')
  })
})

async function virtual() {
  const { createVirtualExecutor } = await import('@ws/executor-virtual')
  return { executors: [createVirtualExecutor()] }
}

describe('readImage of bridges', () => {
  it('gives an image, nothing for another file, and refuses what it would have to change', async () => {
    const large = await noise(2100).jpeg().toBuffer()
    const workspace = await workspaceWith({
      '/a.png': png(),
      '/a.gif': 'GIF89a in words',
      '/empty.png': '',
      '/large.jpg': large,
    })
    expect(await readImage(workspace, '/a.png')).toMatchObject({ type: 'image/png', width: 8, height: 4 })
    expect(await readImage(workspace, '/a.gif')).toBeUndefined()
    expect(await readImage(workspace, '/empty.png')).toBeUndefined()
    expect(await readImage(workspace, '/large.jpg')).toMatchObject({ type: 'image/webp', width: 2000 })
    await expect(readImage(workspace, '/large.jpg', { scale: false })).rejects.toThrow(
      /^EFBIG: read: `\/large\.jpg` is image\/jpeg, 2100 × 2100 pixels, \d+ bytes; models take at most 2000 pixels of a side and 3932160 bytes; /u,
    )
  })
})

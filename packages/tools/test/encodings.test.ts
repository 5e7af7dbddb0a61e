import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { files } from './support/calls.ts'
import { workspaceWith } from './support/stores.ts'

const latin1 = Buffer.from('Größe: fünf Meter, Höhe: zwölf Meter, außen grün\nzweite Zeile\n', 'latin1')
const wide = Buffer.from('\uFEFFeins\nzwei\n', 'utf16le')

describe('a text that is not UTF-8', () => {
  it('is read with its encoding as a named guess, and inspected with it', async () => {
    const { done } = files(createTools(await workspaceWith({ '/a.txt': latin1 })))
    const { text, data } = await done('read', { path: '/a.txt' })
    expect(text).toContain('Größe: fünf Meter')
    expect(text).toMatch(/encoding (?:windows-1252|iso-8859-\d+) is a guess: do not write this text back/u)
    expect(data).toMatchObject({ encoding: expect.stringMatching(/1252|8859/u), total_lines: 2 })
    expect((await done('inspect', { path: '/a.txt' })).text).toMatch(/encoding \S+ \(a guess\)/u)
  })

  it('keeps its bytes in an edit of ASCII', async () => {
    const workspace = await workspaceWith({ '/a.txt': latin1 })
    const { done } = files(createTools(workspace))
    await done('replace', { path: '/a.txt', old: 'zweite Zeile', new: 'dritte Zeile' })
    const { bytes } = await workspace.read('/a.txt')
    expect(Buffer.from(bytes).toString('latin1')).toBe(latin1.toString('latin1').replace('zweite', 'dritte'))
  })

  it('is read by its byte order mark', async () => {
    const { done } = files(createTools(await workspaceWith({ '/a.txt': wide })))
    const { text } = await done('read', { path: '/a.txt' })
    expect(text).toContain('zwei')
    expect(text).toContain('encoding utf-16le;')
  })

  it.each([
    ['UTF-16', Buffer.concat([wide, Buffer.from('drei\n'.repeat(200_000), 'utf16le')]), 'is utf-16le'],
    ['guessed', Buffer.concat([latin1, Buffer.alloc(1_100_000, 'vier\n')]), 'only UTF-8 is read'],
  ])('is refused over 1 MiB, where it would be read as UTF-8: %s', async (_name, content, said) => {
    const { refused, done } = files(createTools(await workspaceWith({ '/a.txt': content })))
    const { text, next } = await refused('read', { path: '/a.txt' })
    expect(text).toContain(said)
    expect(next?.arguments).toMatchObject({ operation: 'read_chunked', path: '/a.txt' })
    expect((await done('inspect', { path: '/a.txt' })).text).toMatch(/encoding (?:utf-16le|\S+ \(a guess\))/u)
  })

  it('is refused where its bytes are not what its mark says', async () => {
    const { refused } = files(createTools(await workspaceWith({ '/a.txt': new Uint8Array([0xff, 0xfe, 0x41]) })))
    expect((await refused('read', { path: '/a.txt' })).text).toContain(
      'is not in the encoding that its byte order mark names',
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findBytes } from '../../src/files/find-bytes.ts'
import { compileEdits } from '../../src/files/splice.ts'
import { check } from '../path/arbitraries.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (content: Uint8Array): string => new TextDecoder().decode(content)
const places = (content: string, needle: string): number[] =>
  [...findBytes(bytes(content), bytes(needle))].filter((place) => place !== undefined)
const few = fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'é'), maxLength: 40 })
const short = fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'é'), minLength: 1, maxLength: 4 })
const most = 1_000_000
const seed = 20_261_123

describe('places of bytes', () => {
  it('are those that a slow search finds', () => {
    check(
      fc.property(few, short, (content, needle) => {
        const [whole, part] = [bytes(content), bytes(needle)]
        const slow = [...whole.keys()].filter(
          (at) => at + part.length <= whole.length && part.every((byte, index) => whole[at + index] === byte),
        )
        expect(places(content, needle)).toEqual(slow)
      }),
    )
  })

  it('are found where the search gives up skipping', () => {
    const needle = 'a'.repeat(50)
    const content = `${'a'.repeat(1000)}b${'a'.repeat(60)}`
    expect(places(content, needle)).toEqual(
      [...Array(951).keys(), ...Array(11).keys()].map((at, index) => (index < 951 ? at : at + 1001)),
    )
  })

  it('[RU8] are found in time that does not grow with the text that is looked for', () => {
    const hay = new Uint8Array(4_000_000).fill(97)
    const needle = new Uint8Array(500_000).fill(97)
    needle[needle.length >> 1] = 98
    const start = performance.now()
    const found = [...findBytes(hay, needle)]
    expect(performance.now() - start).toBeLessThan(2000)
    // it leaves others their turn
    expect(found.length).toBeGreaterThanOrEqual(3)
    expect(found.every((place) => place === undefined)).toBe(true)
  })
})

describe('edits of text', () => {
  it('[PC23] give what replacing in text gives', async () => {
    await fc.assert(
      fc.asyncProperty(few, short, few, async (content, oldText, newText) => {
        const count = content.split(oldText).length - 1
        const edit = compileEdits({ oldText, newText, all: true })(bytes(content), '/f', most)
        if (count === 0) return void (await expect(edit).rejects.toMatchObject({ code: 'EINVAL', path: '/f' }))
        const spliced = await edit
        expect(spliced.replacements).toBe(count)
        expect(text(spliced.content)).toBe(content.replaceAll(oldText, () => newText))
        expect(spliced.isChanged).toBe(oldText !== newText)
      }),
      { seed },
    )
  })

  it('are refused where too many places or too many bytes would come of them', async () => {
    const many = new Uint8Array(100_001).fill(97)
    const edit = compileEdits({ oldText: 'a', newText: 'b', all: true })
    await expect(edit(many, '/f', most * 2)).rejects.toMatchObject({ code: 'EINVAL' })
    expect((await edit(many.subarray(1), '/f', most)).replacements).toBe(100_000)
    const longer = compileEdits({ oldText: 'b', newText: 'ccc' })
    await expect(longer(bytes('ab'), '/f', 3)).rejects.toMatchObject({ code: 'EFBIG', path: '/f' })
  })

  it('name the edit that is wrong', () => {
    const wrong = (edits: unknown) => () => compileEdits(edits as never)
    expect(wrong([{ oldText: 'a', newText: 'b' }, { oldText: 'a' }])).toThrow('`edits[1].newText` must be text')
    expect(wrong({ oldText: '', newText: 'b' })).toThrow('`edits.oldText` must be text that is not empty')
    expect(wrong([])).toThrow('`edits` must be one edit, a list of one or more, or a function, got a list')
    expect(wrong({ oldText: 'a', newText: 'b', al: true })).toThrow('did you mean `edits.all`?')
  })
})

import { createHash } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { fromLink, initial, isLink, toLink, type State } from '../../playground/state.ts'

const linkOf = (value: unknown) => `#s=${deflateRawSync(JSON.stringify(value)).toString('base64url')}`

describe('a link to a state of the playground', () => {
  it('gives the same files, rules and command back', async () => {
    const state: State = {
      files: { '/ä ö.txt': 'über\n😀', '/d/': '', '/__proto__': '<b>' },
      rules: ['notes', 'skills'],
      command: 'echo "$HOME" | cat > "a b"',
    }
    const link = await toLink(state)
    expect(link).toMatch(/^#s=[\w-]+$/u)
    expect(await fromLink(link)).toEqual(state)
  })

  it('leaves a heading of the page, and an address without anything, alone', async () => {
    expect(isLink('#files')).toBe(false)
    expect(await fromLink('#files')).toBeUndefined()
    expect(await fromLink('')).toBeUndefined()
  })

  it('refuses files that make it too long, and says how long', async () => {
    const text = Array.from({ length: 400 }, (_, index) => createHash('md5').update(`${index}`).digest('hex')).join('')
    await expect(toLink({ ...initial, files: { '/a': text } })).rejects.toThrow(
      /^The files take \d+ characters of a link, and 8000 are the most; delete some$/u,
    )
    await expect(toLink({ ...initial, files: { '/a': 'x'.repeat(2 ** 20) } })).rejects.toThrow('262144 bytes')
    await expect(fromLink(`#s=${'A'.repeat(8_000)}`)).rejects.toThrow('8003 characters, and 8000 are the most')
  })

  it.each([
    ['not base64', '#s=%%%'],
    ['not compressed', '#s=AAAA'],
    ['cut off', linkOf(initial).slice(0, -8)],
    ['a text without end', linkOf({ ...initial, command: 'x'.repeat(2 ** 20) })],
    ['no object', linkOf(null)],
    ['without rules', linkOf({ files: {}, command: '' })],
    ['a rule that nobody knows', linkOf({ ...initial, rules: ['toString'] })],
    ['a file that is no text', linkOf({ ...initial, files: { '/a': { target: '/etc' } } })],
    ['a path without a root', linkOf({ ...initial, files: { 'a/../..': '' } })],
    ['a command that is no text', linkOf({ ...initial, command: ['ls'] })],
  ])('refuses a link that is damaged, with one sentence: %s', async (_, link) => {
    expect(link.length).toBeLessThan(8_000)
    await expect(fromLink(link)).rejects.toThrow(/^The link is damaged$/u)
  })
})

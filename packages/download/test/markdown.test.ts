import { describe, expect, it } from 'vitest'

import { htmlToMarkdown } from '../src/index.ts'

describe('htmlToMarkdown', () => {
  it('keeps headings, lists and links, which become absolute', async () => {
    const html =
      '<h1>Title</h1><p>Some <b>bold</b> <a href="/a">link</a>.</p><ul><li>one</li></ul><script>no()</script>'
    const text = await htmlToMarkdown(html, { url: 'https://example.org/page' })
    expect(text).toContain('# Title')
    expect(text).toContain('**bold** [link](https://example.org/a)')
    expect(text).toMatch(/- one/)
    expect(text).not.toContain('no()')
  })

  it('refuses what is too large', async () => {
    await expect(htmlToMarkdown('x'.repeat(9_000_000), { url: 'https://example.org/' })).rejects.toMatchObject({
      code: 'EFBIG',
    })
  })
})

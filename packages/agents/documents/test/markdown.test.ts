import { longestTurn } from '@ws/test-fixtures'
import { openDocuments } from '@ws/documents'
import { afterAll, describe, expect, it } from 'vitest'

const documents = openDocuments()
afterAll(() => documents.close())
const url = 'https://example.org/dir/page.html'

describe('[FS10] markdown', () => {
  it('keeps headings, lists and emphasis, and no scripts', async () => {
    const text = await documents.markdown(
      '<h1>Title</h1><p>Some <b>bold</b></p><ul><li>one</li></ul><script>no()</script>',
      {
        url,
      },
    )
    expect(text).toContain('# Title')
    expect(text).toContain('**bold**')
    expect(text).toMatch(/- one/)
    expect(text).not.toContain('no()')
  })

  it.each([
    ['b', 'https://example.org/dir/b'],
    ['../c?d=1&amp;e', 'https://example.org/c?d=1&e'],
    ['/r', 'https://example.org/r'],
    ['?q', 'https://example.org/dir/page.html?q'],
    ['#f', 'https://example.org/dir/page.html#f'],
    ['//other.org/x', 'https://other.org/x'],
    ['https://other.org/', 'https://other.org/'],
    ['mailto:a@example.org', 'mailto:a@example.org'],
  ])('a link to %s leads to %s', async (href, target) => {
    expect(await documents.markdown(`<p><a class="x" href="${href}">here</a></p>`, { url })).toContain(
      `[here](${target})`,
    )
  })

  it('links and images are relative to the first base of the page', async () => {
    const html = '<head><base href="/base/"><base href="/no/"></head><a href="b">x</a><img src="i.png" alt="y">'
    const text = await documents.markdown(html, { url })
    expect(text).toContain('[x](https://example.org/base/b)')
    expect(text).toContain('![y](https://example.org/base/i.png)')
  })

  it('text that looks like a link stays as it is', async () => {
    const text = await documents.markdown('<pre><code>&lt;a href="b"&gt; ](c)</code></pre>', { url })
    expect(text).toContain('<a href="b"> ](c)')
  })

  it('hostile pages hold no turn of the event loop', async () => {
    const pages = [
      '<div>'.repeat(300_000),
      '<a href="x'.repeat(200_000),
      '&'.repeat(2_000_000),
      '<table><tr><td>'.repeat(100_000),
    ]
    for (const html of pages) {
      const { longest } = await longestTurn(() =>
        documents.markdown(html, { url, timeout: 400 }).catch((error: unknown) => error),
      )
      expect(longest).toBeLessThan(100)
    }
  }, 120_000)

  it('what is too large, and a URL that is not absolute, are refused', async () => {
    await expect(documents.markdown('x'.repeat(9_000_000), { url })).rejects.toMatchObject({ code: 'EFBIG' })
    await expect(documents.markdown('x', { url: '/page' })).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('an abort and a timeout end it', async () => {
    const html = '<p><b>x</b></p>'.repeat(400_000)
    await expect(documents.markdown(html, { url, timeout: 5 })).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    await expect(documents.markdown(html, { url, signal: AbortSignal.abort('stop') })).rejects.toBe('stop')
    expect(await documents.markdown('<b>again</b>', { url })).toBe('**again**\n')
  })
})

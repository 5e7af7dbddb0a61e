/** @module-tag all */
import { component, describeWith } from '@ws/test-fixtures'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { initial, toLink } from '../../playground/state.ts'
import { press, run, startVisitor, statusOf, type Visitor } from './visitor.ts'

describeWith(component('chromium'), 'states of the playground in Chromium', () => {
  let visitor: Visitor

  beforeAll(async () => {
    visitor = await startVisitor()
  })
  afterAll(() => visitor[Symbol.asyncDispose]())

  it('gives a link that has the files, rules and last command, and runs nothing by itself', async () => {
    let link = ''
    {
      await using visited = await visitor.visit()
      const { page } = visited
      await page.getByLabel("rules.deny('/secrets')").uncheck()
      await run(page, 'echo "<img src=x onerror=alert(1)>" > "/<b>.html"; printf "\\\\377" > bytes; ln -s /tmp link')
      await page.getByLabel('Command').fill('ls; rm -r src')
      await press(page, 'Link to this state')
      await expect.poll(() => statusOf(page)).toMatch(/^The link is in the address bar\. .*: \/bytes, \/link$/u)
      link = new URL(page.url()).hash
    }
    await using visited = await visitor.visit(link)
    const { page } = visited
    await expect.poll(() => page.getByLabel('Command').inputValue()).toBe('ls; rm -r src')
    expect(await page.getByLabel("rules.deny('/secrets')").isChecked()).toBe(false)
    expect(await page.getByLabel("rules.readOnly('/notes')").isChecked()).toBe(true)
    const names = await page.getByRole('list', { name: 'All files' }).getByRole('button').allInnerTexts()
    expect(names).toContain('/<b>.html')
    expect(names).toContain('/src/words.txt')
    expect(names.filter((name) => /bytes|link/u.test(name))).toEqual([])
    await press(page, '/<b>.html')
    await expect.poll(() => page.getByLabel('Content').inputValue()).toBe('<img src=x onerror=alert(1)>\n')
    expect(await run(page, 'cat "/<b>.html"; cat secrets/key.txt')).toContain(
      '<img src=x onerror=alert(1)>\nopen sesame',
    )
    expect(await page.locator('.playground :is(img, b)').count()).toBe(0)
  })

  it('warns where a text area would change a file, and leaves text that was typed alone', async () => {
    await using visited = await visitor.visit()
    const { page } = visited
    await run(page, String.raw`printf 'a\r\nb\n' > out/dos.txt`)
    await press(page, '/out/dos.txt')
    await expect.poll(() => statusOf(page)).toBe('/out/dos.txt has carriage returns, which Save would leave out')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('/out/dos.txt')
    await page.getByLabel('Content').fill('mine')
    await run(page, 'echo theirs > out/dos.txt')
    expect(await page.getByLabel('Content').inputValue()).toBe('mine')
    await press(page, 'Open')
    await expect.poll(() => page.getByLabel('Content').inputValue()).toBe('theirs\n')
  })

  it('refuses a state that is too long for a link', async () => {
    await using visited = await visitor.visit()
    const { page } = visited
    await run(page, 'seq 9999 > out/a')
    await press(page, 'Link to this state')
    await expect.poll(() => statusOf(page)).toMatch(/characters of a link, and 8000 are the most; delete some$/u)
    expect(new URL(page.url()).hash).toBe('')
  })

  it('shows one sentence and the usual files for a link that is damaged, also for one that comes later', async () => {
    const impossible = await toLink({ ...initial, files: { '/a/../../b': 'x', '/src': 'y' } })
    for (const [hash, said] of [
      ['#s=AAAA', 'The link is damaged. The usual files are here.'],
      [impossible, 'The link is damaged. The usual files are here.'],
      [`#s=${'A'.repeat(9_000)}`, 'The link has 9003 characters, and 8000 are the most. The usual files are here.'],
    ] as const) {
      await using visited = await visitor.visit(hash)
      const { page } = visited
      expect(await page.getByRole('alert').innerText()).toBe(said)
      expect(await run(page, 'cat src/words.txt')).toContain('pear')
      const link = await toLink({ ...initial, files: { '/only.txt': '1\n' }, command: 'cat only.txt' })
      await page.evaluate(`location.replace(${JSON.stringify(link)})`)
      await expect.poll(() => page.getByLabel('Command').inputValue()).toBe('cat only.txt')
      expect(await page.getByRole('alert').innerText()).toBe('')
      expect(await run(page, 'cat only.txt')).toBe('1\nexit code 0')
      await page.evaluate("location.replace('#files')")
      expect(await run(page, 'ls')).toBe('only.txt\nskills\nexit code 0')
    }
  })
})

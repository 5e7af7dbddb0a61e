/** @module-tag all */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

import { AxeBuilder } from '@axe-core/playwright'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { bundleForBrowser, runInPage } from '@ws/test-fixtures/bundle'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { buildPlayground, withoutNode } from '../../playground/build.ts'
import { initial, toLink } from '../../playground/state.ts'
import { serveSite } from './site.ts'

const stack = new AsyncDisposableStack()
let scripts = ''
let url = ''

beforeAll(async () => {
  scripts = stack.use(await createScratchDirectory()).path
  await buildPlayground(scripts)
  ;({ url } = stack.use(await serveSite(scripts)))
})
afterAll(() => stack.disposeAsync())

describe('the scripts of the playground', () => {
  it('take at most 1.5 MB of a connection, with jq, which comes with its first use', () => {
    const sizes = ['page.js', 'interpreter.js', 'build/jq.wasm'].map(
      (name) => gzipSync(readFileSync(join(scripts, name))).length,
    )
    expect(sizes.every((size) => size > 100_000)).toBe(true)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_500_000)
  })

  it('have a sentence of ours for each function of Node that a browser lacks', async () => {
    const bundle = await bundleForBrowser(join(import.meta.dirname, 'of-node.ts'), [], false, withoutNode)
    const messages = (await runInPage(bundle)).found as [name: string, message: string][]
    expect(messages.length).toBeGreaterThan(400)
    const sentence = /^`(.+)` of [a-z_/]+ is not available in a browser; run this workspace on Node$/u
    const others = messages.filter(([name, message]) => sentence.exec(message)?.[1] !== name)
    // the executor opens and closes a descriptor to see whether there are any
    expect(others.map(([name]) => name)).toEqual(['closeSync'])
  })
})

describeWith(component('chromium'), 'the playground in Chromium', () => {
  let browser: Browser

  beforeAll(async () => {
    const quiet = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync']
    const alone = ['--disable-background-networking', '--disable-component-update']
    browser = await chromium.launch({
      executablePath: component('chromium').path ?? '',
      args: ['--no-sandbox', ...quiet, ...alone],
    })
  })
  afterAll(() => browser.close())

  /** A page whose errors fail the test that uses it. */
  async function visit(hash = '', width = 1280): Promise<{ readonly page: Page } & AsyncDisposable> {
    const context = await browser.newContext({ viewport: { width, height: 900 } })
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    await page.goto(url + hash)
    await page.getByRole('button', { name: 'Run' }).waitFor()
    return {
      page,
      async [Symbol.asyncDispose]() {
        await context.close()
        expect(errors).toEqual([])
      },
    }
  }

  /** Runs a command as a visitor does. @returns its output and end */
  async function run(page: Page, command: string): Promise<string> {
    await page.getByLabel('Command').fill(command)
    await page.getByLabel('Command').press('Enter')
    const entry = page.getByRole('log').locator('> div').last()
    await entry.getByText(/^(?:exit code|ended)/u).waitFor()
    return (await entry.locator('pre').allTextContents()).join('')
  }

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const status = (page: Page) => page.getByRole('status').innerText()
  const rowOf = (page: Page, operation: string) =>
    page.getByRole('row', { name: new RegExp(`^[\\w, ]*\\b${operation}\\b[\\w, ]* (?:allowed|E)`, 'u') }).innerText()

  it('shows a file of the shell to the editor, and one of the editor to the shell', async () => {
    await using visited = await visit()
    const { page } = visited
    expect(await run(page, 'sort src/words.txt > out/sorted.txt; jq -n 1+1')).toBe('2\nexit code 0')
    await press(page, '/out/sorted.txt')
    await expect.poll(() => page.getByLabel('Content').inputValue()).toBe('apple\nfig\npear\n')

    await page.getByLabel('Content').fill('one\ntwo\n')
    await page.getByLabel('Path').fill('/out/new.txt')
    await press(page, 'Save')
    await expect.poll(() => status(page)).toBe('Save: /out/new.txt')
    expect(await run(page, 'wc -l < out/new.txt; echo three >> out/new.txt')).toBe('2\nexit code 0')
    await expect.poll(() => page.getByLabel('Content').inputValue()).toBe('one\ntwo\nthree\n')

    await page.getByLabel('Path').fill('/out/moved.txt')
    await press(page, 'Rename')
    await expect.poll(() => status(page)).toBe('Rename: /out/moved.txt')
    await page.getByLabel('Path').fill('/out/deep')
    await press(page, 'New directory')
    await expect.poll(() => status(page)).toBe('New directory: /out/deep')
    await page.getByLabel('Path').fill('/out/sorted.txt')
    await press(page, 'Delete')
    await expect.poll(() => status(page)).toBe('Delete: /out/sorted.txt')
    expect(await run(page, 'ls -F out')).toBe('deep/\nmoved.txt\nexit code 0')
  })

  it('[RU10] holds each rule at both doors, and none of them once it is switched off', async () => {
    await using visited = await visit()
    const { page } = visited
    const denied = [
      ["rules.deny('/secrets')", '/secrets/key.txt', 'EACCES'],
      ["rules.readOnly('/notes')", '/notes/plan.md', 'EACCES'],
      ['rules.protectSecrets()', '/.env', 'EACCES'],
      ['rules.protectHooks()', '/.git/hooks/pre-commit', 'EACCES'],
      ["{ at: '/skills', adapter, access: 'read-only' }", '/skills/count.md', 'EROFS'],
    ] as const
    for (const [rule, path, code] of denied) {
      await page.getByLabel('Path').fill(path)
      await press(page, 'Save')
      await expect.poll(() => status(page), { message: path }).toContain(code)
      expect(await run(page, `echo x >> ${path}`), path).toMatch(
        /(?:Permission denied|Read-only file system)[^]*exit code 1$/u,
      )
      await page.getByLabel(rule).uncheck()
      await expect.poll(() => status(page)).toContain('rules hold')
      await page.getByLabel('Content').fill('mine\n')
      await press(page, 'Save')
      await expect.poll(() => status(page), { message: path }).toBe(`Save: ${path}`)
      expect(await run(page, `echo x >> ${path}; cat ${path}`), path).toBe('mine\nx\nexit code 0')
    }
    await page.getByLabel("rules.withinOutput('/out')").check()
    await expect.poll(() => status(page)).toContain('rules hold')
    expect(await run(page, 'echo x > src/a; echo x > out/a; cat out/a')).toContain('withinOutput(/out)')
  })

  it('[RU6] explains each operation for the path that is clicked or typed, by the rules as they are', async () => {
    await using visited = await visit()
    const { page } = visited
    await press(page, '/notes/plan.md')
    await expect.poll(() => rowOf(page, 'write')).toContain('EACCES by readOnly(/notes): /notes/plan.md is read-only')
    expect(await rowOf(page, 'read')).toContain('allowed')
    await page.getByLabel('Path').fill('/secrets/none')
    await expect.poll(() => rowOf(page, 'read')).toContain('deny(/secrets)')
    await page.getByLabel("rules.deny('/secrets')").uncheck()
    await expect.poll(() => rowOf(page, 'read')).toContain('allowed')
    await page.getByLabel('Path').fill('/../x')
    await expect.poll(() => rowOf(page, 'all')).toContain('EOUTSIDE')
  })

  it('gives a link that has the files, rules and last command, and runs nothing by itself', async () => {
    let link = ''
    {
      await using visited = await visit()
      const { page } = visited
      await page.getByLabel("rules.deny('/secrets')").uncheck()
      await run(page, 'echo "<img src=x onerror=alert(1)>" > "/<b>.html"; printf "\\\\377" > bytes; ln -s /tmp link')
      await page.getByLabel('Command').fill('ls; rm -r src')
      await press(page, 'Link to this state')
      await expect.poll(() => status(page)).toMatch(/^The link is in the address bar\. .*: \/bytes, \/link$/u)
      link = new URL(page.url()).hash
    }
    await using visited = await visit(link)
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
    await using visited = await visit()
    const { page } = visited
    await run(page, String.raw`printf 'a\r\nb\n' > out/dos.txt`)
    await press(page, '/out/dos.txt')
    await expect.poll(() => status(page)).toBe('/out/dos.txt has carriage returns, which Save would leave out')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('/out/dos.txt')
    await page.getByLabel('Content').fill('mine')
    await run(page, 'echo theirs > out/dos.txt')
    expect(await page.getByLabel('Content').inputValue()).toBe('mine')
    await press(page, 'Open')
    await expect.poll(() => page.getByLabel('Content').inputValue()).toBe('theirs\n')
  })

  it('refuses a state that is too long for a link', async () => {
    await using visited = await visit()
    const { page } = visited
    await run(page, 'seq 9999 > out/a')
    await press(page, 'Link to this state')
    await expect.poll(() => status(page)).toMatch(/characters of a link, and 8000 are the most; delete some$/u)
    expect(new URL(page.url()).hash).toBe('')
  })

  it('shows one sentence and the usual files for a link that is damaged, also for one that comes later', async () => {
    const impossible = await toLink({ ...initial, files: { '/a/../../b': 'x', '/src': 'y' } })
    for (const [hash, said] of [
      ['#s=AAAA', 'The link is damaged. The usual files are here.'],
      [impossible, 'The link is damaged. The usual files are here.'],
      [`#s=${'A'.repeat(9_000)}`, 'The link has 9003 characters, and 8000 are the most. The usual files are here.'],
    ] as const) {
      await using visited = await visit(hash)
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

  it('stops a command without end, keeps its files, and stays usable while it runs', async () => {
    await using visited = await visit()
    const { page } = visited
    await page.getByLabel('Command').fill('echo 1 > out/before; echo here; while :; do :; done')
    await page.getByLabel('Command').press('Enter')
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).isEnabled()).toBe(true)
    await page.getByLabel('Path').fill('/out/meanwhile')
    await expect
      .poll(async () => {
        await press(page, 'Save')
        return page.getByRole('button', { name: '/out/before' }).count()
      })
      .toBe(1)
    expect(await status(page)).toBe('Save: /out/meanwhile')
    await press(page, 'Stop')
    await page.getByText('ended by SIGKILL').waitFor()
    expect(await run(page, 'cat out/before; ls out')).toBe('1\nbefore\nmeanwhile\nexit code 0')
  })

  it('ends what runs when the visitor leaves the page', async () => {
    await using visited = await visit()
    const { page } = visited
    await run(page, 'true')
    await page.getByLabel('Command').fill('while :; do :; done')
    await page.getByLabel('Command').press('Enter')
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).isEnabled()).toBe(true)
    const threads = page.workers().length
    await page.evaluate('leave()')
    await expect.poll(() => page.workers().length).toBeLessThan(threads)
    await page.getByText('ended by SIGKILL').waitFor()
  })

  it('ends a command that prints or runs without end by itself', async () => {
    await using visited = await visit()
    const { page } = visited
    expect(await run(page, 'while :; do seq 9999; done')).toMatch(/^1\n[^]*exit code 126$/u)
    expect(await run(page, 'while :; do :; done')).toContain('ended after 10 seconds')
    expect(await run(page, 'echo again')).toBe('again\nexit code 0')
  })

  it('says the truth about what is not there', async () => {
    await using visited = await visit()
    const { page } = visited
    const text = await page.getByRole('region', { name: 'Not here' }).innerText()
    const named = /has no (.+?) or other installed program, and no network\. In a browser it has no (.+?) either/u.exec(
      text,
    )
    const programs = [...(named?.[1] ?? '').split(', '), ...(named?.[2] ?? '').split(/, | and /u)]
    expect(programs).toEqual(
      expect.arrayContaining(['git', 'python3', 'node', 'curl', 'tar', 'gzip', 'zcat', 'sqlite3']),
    )
    await run(page, `cp src/words.txt a; echo ${gzipSync('a').toString('base64')} | base64 -d > a.gz`)
    const forms: Readonly<Record<string, string>> = { tar: 'tar cf a.tar a', gunzip: 'gunzip a.gz', zcat: 'zcat a.gz' }
    for (const name of programs) {
      const said = await run(page, forms[name] ?? `${name} a`)
      expect(said, name).toMatch(/command not found|not supported|not available in a browser|has no/u)
      expect(said, name).toMatch(/exit code [1-9]\d*$/u)
    }
    expect(await run(page, 'gzip a')).toContain(
      '`gzipSync` of zlib is not available in a browser; run this workspace on Node',
    )
    expect(await run(page, 'cd out; pwd')).toContain('/out')
    expect(await run(page, 'pwd')).toBe('/\nexit code 0')
    expect(await run(page, 'head -c 5000000 /dev/zero > a || seq 900000 > b; wc -c < b')).toMatch(
      /exit code (?!0)\d+$/u,
    )
  })

  it('is usable by keyboard: a label for each control, the order of the page, and the commands before', async () => {
    await using visited = await visit()
    const { page } = visited
    const controls = page.locator('.playground :is(button, input, textarea)')
    for (const control of await controls.all()) {
      const name = await control.evaluate((element) => {
        const { labels, textContent } = element as unknown as {
          labels?: { textContent: string }[]
          textContent: string
        }
        return (labels?.[0]?.textContent ?? textContent).trim()
      })
      expect(name).not.toBe('')
    }
    await run(page, 'echo first')
    await run(page, 'echo second')
    await page.getByLabel('Command').press('ArrowUp')
    await page.getByLabel('Command').press('ArrowUp')
    expect(await page.getByLabel('Command').inputValue()).toBe('echo first')
    await page.getByLabel('Command').press('ArrowDown')
    await page.getByLabel('Command').press('Enter')
    await expect.poll(() => page.getByRole('log').locator('> div').last().innerText()).toMatch(/second[^]*exit code 0/u)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Run')
    await page.getByLabel('Command').fill('sleep 9')
    await page.getByLabel('Command').press('Enter')
    await expect.poll(() => page.getByRole('button', { name: 'Stop' }).isEnabled()).toBe(true)
    await page.getByLabel('Command').press('Control+c')
    await page.getByText('ended by SIGKILL').waitFor()
  })

  it.each([
    [390, 'light'],
    [1280, 'dark'],
  ])('fits into a page that is %i pixels wide, and axe finds nothing wrong with it, %s', async (width, colours) => {
    await using visited = await visit('', width)
    const { page } = visited
    await page.evaluate(`document.documentElement.className = '${colours}'`)
    await run(page, `echo ${'x'.repeat(300)} | tee "out/${'y'.repeat(200)}"; cat secrets/key.txt`)
    await press(page, '/notes/plan.md')
    await expect.poll(() => rowOf(page, 'write')).toContain('EACCES')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    const sections = await page
      .locator('.playground section')
      .evaluateAll(
        (all) =>
          (all as unknown as { scrollWidth: number; clientWidth: number }[]).filter(
            (one) => one.scrollWidth > one.clientWidth,
          ).length,
      )
    expect(sections).toBe(0)
    const { violations } = await new AxeBuilder({ page }).include('.playground').analyze()
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
  })
})

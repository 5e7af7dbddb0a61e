/** @module-tag all */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

import { AxeBuilder } from '@axe-core/playwright'
import { component, describeWith } from '@ws/test-fixtures'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { goneNames } from '../src/names.ts'
import { loadPages, renderPage, type LoadedPage } from '../src/pages.ts'
import { addressOf } from '../src/site.ts'
import { buildSite, dist, serve, type Served } from './support/built-site.ts'
import { press, run, startBrowser, statusOf } from './playground/visitor.ts'
import { questions } from './support/questions.ts'

const pages = loadPages()

let built: Promise<void> | undefined
const buildOnce = () => (built ??= buildSite())

describe('a page', () => {
  const pageOf = (text: string): LoadedPage => ({
    route: 'test',
    title: 'Test',
    source: 'packages/adapters/s3/README.md',
    lines: text.split('\n').map((line, index) => ({ source: 'test.md', number: index + 1, text: line })),
    anchors: new Set(),
  })

  it('that names an option, a package, a door, a maker of rules or a code that is gone is refused with its line', () => {
    const text = [
      '# Test',
      '`@ws/core`, `@ws/core/adapter`, `rules.deny`, `ENOENT` and `EBACKEND` are there',
      '`@ws/gone`',
      '`@ws/core/gone`',
      '`rules.gone()`',
      '`EGONE`',
      '',
      '| option | default |',
      '| --- | --- |',
      '| `bucket` | |',
      '| `goneOption` | |',
    ]
    const problems = goneNames(pageOf(text.join('\n'))).map((problem) => problem.split(' is gone')[0])
    expect(problems).toEqual([
      'test.md:3: `@ws/gone`',
      'test.md:4: `@ws/core/gone`',
      'test.md:5: `gone`',
      'test.md:6: `EGONE`',
      'test.md:11: `goneOption`',
    ])
  })

  it('with a link that leads nowhere is refused with its line', () => {
    expect(() => renderPage(pageOf('# Test\n\n[a](gone.md)'), pages)).toThrow('test.md:3: gone.md is not there')
    expect(() => renderPage(pageOf('# Test\n[a](docs/rules.md#gone)'), pages)).toThrow(
      'test.md:2: rules/recipes has no',
    )
  })
})

describe('the site', () => {
  beforeAll(buildOnce, 300_000)

  it('has no dead link and no dead anchor, with the API reference', () => {
    const files = globSync('**/*.html', { cwd: dist })
    const ids = new Map<string, ReadonlySet<string>>()
    const texts = new Map(files.map((file) => [file, readFileSync(join(dist, file), 'utf8')]))
    for (const [file, html] of texts)
      ids.set(file, new Set([...html.matchAll(/\s(?:id|name)="([^"]+)"/gu)].map(([, id = '']) => decode(id))))
    const dead = [...texts].flatMap(([file, html]) =>
      [...html.matchAll(/<a\s[^>]*?href="([^"]*)"/gu)].flatMap(([, link = '']) => {
        const href = decode(link)
        if (/^(?:[a-z]+:|\/\/)/u.test(href)) return []
        const [path = '', anchor = ''] = href.split('#')
        const target = path === '' ? file : posix.join(path.startsWith('/') ? '' : posix.dirname(file), path)
        const found = fileOf(target)
        if (found === undefined) return [`${file}: ${href}`]
        if (anchor === '' || !found.endsWith('.html')) return []
        return ids.get(found)?.has(decodeURIComponent(anchor)) === true ? [] : [`${file}: ${href}`]
      }),
    )
    expect([...new Set(dead)]).toEqual([])
  })

  it('has a twin in Markdown for each page, and names all of them for models', () => {
    const llms = readFileSync(join(dist, 'llms.txt'), 'utf8')
    const full = readFileSync(join(dist, 'llms-full.txt'), 'utf8')
    for (const { route, title } of pages) {
      expect(readFileSync(join(dist, `${route}.md`), 'utf8')).toContain(`# ${title}`)
      expect(llms).toContain(`(/${route}.md)`)
      expect(full).toContain(`# ${title}\n`)
    }
  })
})

const decode = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')

function fileOf(path: string): string | undefined {
  const clean = path.replace(/^\//u, '')
  const names = clean === '' || clean.endsWith('/') ? [`${clean}index.html`] : [clean, `${clean}.html`]
  return names.find((name) => name.includes('.') && existsSync(join(dist, name)))
}

describeWith(component('chromium'), 'the site in a browser', () => {
  let browser: Browser
  let served: Served
  let page: Page
  const errors: string[] = []

  beforeAll(async () => {
    await buildOnce()
    served = await serve(dist)
    browser = await startBrowser()
    page = await (await browser.newContext()).newPage()
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on(
      'console',
      (message) => void (message.type() === 'error' && errors.push(`${message.text()} ${message.location().url}`)),
    )
  }, 300_000)
  afterAll(async () => {
    await browser?.close()
    await served?.[Symbol.asyncDispose]()
  })

  it('shows each page at 390 and 1,280 pixels: no error, nothing to scroll sideways, at most 300 kB', {
    timeout: 600_000,
  }, async () => {
    const wrong: string[] = []
    const session = await page.context().newCDPSession(page)
    await session.send('Network.setCacheDisabled', { cacheDisabled: true })
    let bytes = 0
    page.on('response', (response) => void (bytes += Number(response.headers()['content-length'] ?? 0)))
    for (const each of pages) {
      errors.length = bytes = 0
      await page.goto(served.url + addressOf(each), { waitUntil: 'load' })
      if (bytes > 300_000 && each.route !== 'start/playground') wrong.push(`${each.route}: ${bytes} bytes`)
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 })
        const heading = (await page.locator('h1').first().textContent()) ?? ''
        const shown = await page.evaluate<number>('document.documentElement.scrollWidth')
        if (!heading.includes(each.title.replaceAll('`', ''))) wrong.push(`${each.route}: ${heading}`)
        if (shown > width) wrong.push(`${each.route}: ${shown} of ${width} pixels`)
      }
      wrong.push(...errors.map((error) => `${each.route}: ${error}`))
    }
    await session.send('Network.setCacheDisabled', { cacheDisabled: false })
    expect(wrong).toEqual([])
  })

  it('has the playground, whose shell and files meet one rule', async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(`${served.url}/start/playground`)
    await page.locator('.playground input').last().waitFor()
    expect(await run(page, 'cat secrets/key.txt')).toMatch(/Permission denied/u)
    await page.getByLabel('Path').fill('/secrets/key.txt')
    await press(page, 'Save')
    await expect.poll(() => statusOf(page)).toContain('EACCES')
    expect(errors).toEqual([])
  })

  it.each(questions)('finds the page for: %s', async (question, route) => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.goto(served.url)
    await page.evaluate('sessionStorage.clear()') // else the box begins with the last question and its pages
    await page.locator('.VPNavBarSearch button').first().click()
    await page.locator('.VPLocalSearchBox input').fill(question)
    const found = page.locator('.VPLocalSearchBox .results a')
    await found.first().waitFor()
    const links = await Promise.all((await found.all()).map((link) => link.getAttribute('href')))
    expect(links.slice(0, 5).map((link) => link?.split('#')[0])).toContain(`/${route}`)
  })

  it.each([
    'index',
    'start/agent',
    'rules/recipes',
    'frameworks/ai-sdk',
    'stores/s3',
    'executors/bubblewrap',
    'errors',
    'compared',
    'production/checklist',
    'reference/core',
  ])('axe finds nothing serious in %s', async (route) => {
    await page.goto(served.url + addressOf({ route }), { waitUntil: 'load' })
    const { violations } = await new AxeBuilder({ page }).analyze()
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([])
  })
})

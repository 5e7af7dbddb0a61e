import { component, createScratchDirectory } from '@ws/test-fixtures'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'

import { buildPlayground } from '../../playground/build.ts'
import { serveSite } from './site.ts'

export function startBrowser(): Promise<Browser> {
  const quiet = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync']
  const alone = ['--disable-background-networking', '--disable-component-update']
  return chromium.launch({
    executablePath: component('chromium').path ?? '',
    args: ['--no-sandbox', ...quiet, ...alone],
  })
}

/** A browser, and a site with the playground. */
export interface Visitor extends AsyncDisposable {
  /** Opens the playground. Errors of the page fail the test that opened it. */
  visit(hash?: string, width?: number): Promise<{ readonly page: Page } & AsyncDisposable>
}

export async function startVisitor(): Promise<Visitor> {
  const stack = new AsyncDisposableStack()
  const { path } = stack.use(await createScratchDirectory())
  await buildPlayground(path)
  const { url } = stack.use(await serveSite(path))
  const browser = await startBrowser()
  stack.defer(() => browser.close())
  return {
    async visit(hash = '', width = 1280) {
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
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Runs a command as a visitor does. @returns its output and end */
export async function run(page: Page, command: string): Promise<string> {
  await page.getByLabel('Command').fill(command)
  await page.getByLabel('Command').press('Enter')
  const entry = page.getByRole('log').locator('> div').last()
  await entry.getByText(/^(?:exit code|ended)/u).waitFor()
  return (await entry.locator('pre').allTextContents()).join('')
}

/** Presses a button of the playground, or one of its files. */
export const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click()

export const statusOf = (page: Page): Promise<string> => page.getByRole('status').innerText()

/** The row of `explain` in which an operation is. */
export const rowOf = (page: Page, operation: string): Promise<string> =>
  page.getByRole('row', { name: new RegExp(`^[\\w, ]*\\b${operation}\\b[\\w, ]* (?:allowed|E)`, 'u') }).innerText()

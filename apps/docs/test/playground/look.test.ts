/** @module-tag all */
import { AxeBuilder } from '@axe-core/playwright'
import { component, describeWith } from '@ws/test-fixtures'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { press, rowOf, run, startVisitor, type Visitor } from './visitor.ts'

describeWith(component('chromium'), 'the look of the playground in Chromium', () => {
  let visitor: Visitor

  beforeAll(async () => {
    visitor = await startVisitor()
  })
  afterAll(() => visitor[Symbol.asyncDispose]())

  it('is usable by keyboard: a label for each control, the order of the page, and the commands before', async () => {
    await using visited = await visitor.visit()
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
    await using visited = await visitor.visit('', width)
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

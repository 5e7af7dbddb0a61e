/** @module-tag all */
import { gzipSync } from 'node:zlib'

import { component, describeWith } from '@ws/test-fixtures'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { press, rowOf, run, startVisitor, statusOf, type Visitor } from './visitor.ts'

describeWith(component('chromium'), 'the playground in Chromium', () => {
  let visitor: Visitor

  beforeAll(async () => {
    visitor = await startVisitor()
  })
  afterAll(() => visitor[Symbol.asyncDispose]())

  it('shows a file of the shell to the editor, and one of the editor to the shell', async () => {
    await using visited = await visitor.visit()
    const { page } = visited
    expect(await run(page, 'sort src/words.txt > out/sorted.txt; jq -n 1+1')).toBe('2\nexit code 0')
    await press(page, '/out/sorted.txt')
    await expect.poll(() => page.getByLabel('Content').inputValue()).toBe('apple\nfig\npear\n')

    await page.getByLabel('Content').fill('one\ntwo\n')
    await page.getByLabel('Path').fill('/out/new.txt')
    await press(page, 'Save')
    await expect.poll(() => statusOf(page)).toBe('Save: /out/new.txt')
    expect(await run(page, 'wc -l < out/new.txt; echo three >> out/new.txt')).toBe('2\nexit code 0')
    await expect.poll(() => page.getByLabel('Content').inputValue()).toBe('one\ntwo\nthree\n')

    await page.getByLabel('Path').fill('/out/moved.txt')
    await press(page, 'Rename')
    await expect.poll(() => statusOf(page)).toBe('Rename: /out/moved.txt')
    await page.getByLabel('Path').fill('/out/deep')
    await press(page, 'New directory')
    await expect.poll(() => statusOf(page)).toBe('New directory: /out/deep')
    await page.getByLabel('Path').fill('/out/sorted.txt')
    await press(page, 'Delete')
    await expect.poll(() => statusOf(page)).toBe('Delete: /out/sorted.txt')
    expect(await run(page, 'ls -F out')).toBe('deep/\nmoved.txt\nexit code 0')
  })

  it('[RU10] holds each rule at both doors, and none of them once it is switched off', async () => {
    await using visited = await visitor.visit()
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
      await expect.poll(() => statusOf(page), { message: path }).toContain(code)
      expect(await run(page, `echo x >> ${path}`), path).toMatch(
        /(?:Permission denied|Read-only file system)[^]*exit code 1$/u,
      )
      await page.getByLabel(rule).uncheck()
      await expect.poll(() => statusOf(page)).toContain('rules hold')
      await page.getByLabel('Content').fill('mine\n')
      await press(page, 'Save')
      await expect.poll(() => statusOf(page), { message: path }).toBe(`Save: ${path}`)
      expect(await run(page, `echo x >> ${path}; cat ${path}`), path).toBe('mine\nx\nexit code 0')
    }
    await page.getByLabel("rules.withinOutput('/out')").check()
    await expect.poll(() => statusOf(page)).toContain('rules hold')
    expect(await run(page, 'echo x > src/a; echo x > out/a; cat out/a')).toContain('withinOutput(/out)')
  })

  it('[RU6] explains each operation for the path that is clicked or typed, by the rules as they are', async () => {
    await using visited = await visitor.visit()
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

  it('stops a command without end, keeps its files, and stays usable while it runs', async () => {
    await using visited = await visitor.visit()
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
    expect(await statusOf(page)).toBe('Save: /out/meanwhile')
    await press(page, 'Stop')
    await page.getByText('ended by SIGKILL').waitFor()
    expect(await run(page, 'cat out/before; ls out')).toBe('1\nbefore\nmeanwhile\nexit code 0')
  })

  it('ends what runs when the visitor leaves the page', async () => {
    await using visited = await visitor.visit()
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
    await using visited = await visitor.visit()
    const { page } = visited
    expect(await run(page, 'while :; do seq 9999; done')).toMatch(/^1\n[^]*exit code 126$/u)
    expect(await run(page, 'while :; do :; done')).toContain('ended after 10 seconds')
    expect(await run(page, 'echo again')).toBe('again\nexit code 0')
  })

  it('says the truth about what is not there', async () => {
    await using visited = await visitor.visit()
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
})

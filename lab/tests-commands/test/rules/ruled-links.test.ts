/** @module-tag all */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { rules } from '@ws/core'
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { openSite } from '../doors/site.ts'

const files = { 'real.env': 'SECRET', 'data/key': 'SECRET', 'd/x': 'SECRET' }

describeWith([component('proot')], 'rules on names that are links, where proot translates', () => {
  it('[RU10] deny the target by each of its names, and report a link that was turned', async () => {
    const links = { '.env': 'real.env', fixed: 'd/x', link: 'data', 'd/.env': '../made' }
    await using site = await openSite({
      root: '/',
      executor: createProotExecutor(),
      files,
      rules: () => [rules.protectSecrets(), rules.deny('fixed'), rules.deny('link/key')],
    })
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(site.directory, path))
    const read = await site.attempt('cat .env real.env fixed d/x link/key data/key; echo x > d/.env')
    expect({ stdout: read.stdout, denied: read.stderr.match(/Permission denied/g)?.length }).toEqual({
      stdout: '',
      denied: 6,
    })
    expect([read.violations, await site.workspace.exists('made')]).toEqual([undefined, false])
    const { violations } = await site.attempt('rm .env; ln -sfn d link')
    expect(violations?.map(({ kind, path }) => `${kind} ${path}`).sort()).toEqual(['link /.env', 'link /link/key'])
  })
})

describe('rules on names that are links, in sanitized commands', () => {
  it('[RU10] refuse commands with words, as they do for the target itself', async () => {
    await using site = await openSite({
      root: '/',
      executor: createSanitizeExecutor(),
      files,
      rules: () => [rules.protectSecrets()],
    })
    expect(await site.run('cat real.env')).toBe('SECRET')
    symlinkSync('real.env', join(site.directory, '.env'))
    const refusal = { code: 'EUNENFORCEABLE', rule: 'protectSecrets', path: '/real.env' }
    await expect(site.attempt('cat .env')).rejects.toMatchObject(refusal)
    await expect(site.attempt('cat real.env')).rejects.toThrow('could read `/real.env`')
  })
})

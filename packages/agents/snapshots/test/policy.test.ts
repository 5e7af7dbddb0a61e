import { rules, type AccessEvent, type Rule } from '@ws/core'
import { describe, expect, it } from 'vitest'

import { filesOf, shareEngine, siteOf } from './support/site.ts'

shareEngine()

const secret = 'classified'

/** Rules under which no byte of the word may come out of `/hidden` or of a file `key.pem`. */
const ways: Readonly<Record<string, readonly Rule[]>> = {
  'a denied directory': [rules.deny('/hidden'), rules.denyGlob('**/*.pem')],
  'a glob on the directory': [rules.denyGlob('hidden'), rules.denyGlob('**/*.pem')],
  'a function': [
    rules.predicate({ name: 'mine', test: ({ path }) => !path.startsWith('/hidden') && !path.endsWith('.pem') }),
  ],
  'only another directory': [rules.withinWorkspace('/open'), rules.denyGlob('**/*.pem')],
  'write-only': [rules.subtree({ name: 'drop', entries: { '/hidden': 'write-only' } }), rules.denyGlob('**/*.pem')],
}

describe('rules of today over states of earlier', () => {
  it.each(Object.entries(ways))(
    '[UN4] %s: nothing that is denied comes out, and nothing of it is touched',
    async (_way, given) => {
      const first = await siteOf()
      await first.workspace.write('/hidden/file.txt', `${secret} before`)
      await first.workspace.write('/open/key.pem', `${secret} before`)
      await first.workspace.write('/open/file.txt', 'open before')
      const { id } = await first.workspace.checkpoint()
      await first.workspace.write('/hidden/file.txt', `${secret} after`)
      await first.workspace.write('/hidden/more.txt', `${secret} more`)
      await first.workspace.write('/open/key.pem', `${secret} after`)
      await first.workspace.move('/hidden/file.txt', '/open/moved.txt')
      await first.workspace.move('/open/moved.txt', '/hidden/again.txt')
      await first.workspace.write('/open/file.txt', 'open after')
      const all = await filesOf(first.workspace)
      await first.workspace.close()

      const { root } = first
      const { workspace } = await siteOf({ root, rules: given })
      expect((await workspace.changes({ since: id })).map(({ path }) => path)).toEqual(['/open/file.txt'])
      expect(await workspace.changes({ since: id, paths: ['/hidden', '/open/key.pem'] })).toEqual([])
      const shown = [await workspace.diff({ since: id }), await workspace.diff({ since: id, path: '/hidden' })].join('')
      expect(shown).toContain('open after')
      expect(shown).not.toContain(secret)
      const { restored, kept } = await workspace.restore(id)
      expect(JSON.stringify([restored, kept])).not.toMatch(/hidden|pem/u)
      expect(restored.map(({ path }) => path)).toEqual(['/open/file.txt'])
      await workspace.close()
      const after = await siteOf({ root })
      const now = await filesOf(after.workspace)
      for (const path of Object.keys(all).filter((one) => one.startsWith('/hidden/') || one.endsWith('.pem')))
        expect(now[path], path).toBe(all[path])
    },
  )
})

describe('read-only parts', () => {
  it('[UN4] are named, kept and said to be so; each path that is restored is in the audit', async () => {
    const first = await siteOf()
    await first.workspace.write('/fixed/file.txt', 'before')
    await first.workspace.write('/free.txt', 'before')
    const { id } = await first.workspace.checkpoint()
    await first.workspace.write('/fixed/file.txt', 'after')
    await first.workspace.write('/free.txt', 'after')
    await first.workspace.close()
    const { root } = first
    const { workspace } = await siteOf({ root, rules: [rules.readOnly('/fixed')] })
    const events: AccessEvent[] = []
    workspace.on('access', (event) => events.push(event))
    expect(await workspace.diff({ since: id, path: '/fixed' })).toContain('+after')
    const { restored, kept } = await workspace.restore(id)
    expect(restored.map(({ path }) => path)).toEqual(['/free.txt'])
    expect(kept).toEqual([{ path: '/fixed/file.txt', reason: expect.stringContaining('read-only') as string }])
    expect(await workspace.readText('/fixed/file.txt')).toBe('after')
    const audited = events.filter(({ operation }) => operation === 'restore').map(({ path }) => path)
    expect(audited).toContain('/free.txt')
    expect(audited).not.toContain('/fixed/file.txt')
  })
})

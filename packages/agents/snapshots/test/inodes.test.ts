import { chmodSync, linkSync, lutimesSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { shareEngine, siteOf } from './support/site.ts'
import { treeOf } from './support/tree-of.ts'

shareEngine()

it('[UN3] an inode gets its time and bits back, whatever names it had then and has now', async () => {
  const { workspace, root } = await siteOf()
  const at = (name: string): string => join(root, name)
  for (const name of ['a', 'other', 'z']) writeFileSync(at(name), name)
  for (const name of ['b', 'c']) linkSync(at('a'), at(name))
  symlinkSync('a', at('to-1'))
  linkSync(at('to-1'), at('to-2'))
  const before = treeOf(root)
  const { id } = await workspace.checkpoint()
  utimesSync(at('a'), 1_600_000_000.5, 1_600_000_000.5)
  chmodSync(at('a'), 0o600)
  // names that come after those which stay
  for (const name of ['c', 'other', 'z']) rmSync(at(name))
  for (const name of ['other', 'z']) linkSync(at('a'), at(name))
  lutimesSync(at('to-1'), 1_600_000_001.5, 1_600_000_001.5)
  symlinkSync('new', at('new-1'))
  for (const name of ['new-2', 'new-3']) linkSync(at('new-1'), at(name))
  const after = treeOf(root)
  const { kept, undo } = await workspace.restore(id)
  expect(kept).toEqual([])
  expect(treeOf(root)).toEqual(before)
  expect((await workspace.restore(undo ?? '')).kept).toEqual([])
  expect(treeOf(root)).toEqual(after)
})

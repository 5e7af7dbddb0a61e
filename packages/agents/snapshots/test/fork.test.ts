import { describe, expect, it } from 'vitest'

import { failureOf, shareEngine, siteOf } from './support/site.ts'

shareEngine()

describe.each(['memory', 'local'] as const)('a fork in a %s store', (kind) => {
  it('[EF3] changes alone, and gives its changes to the workspace it was made from', async () => {
    const { workspace } = await siteOf({ kind })
    await workspace.write('/a', 'one')
    await workspace.write('/both', 'one')
    await workspace.write('/d/x', 'x', { parents: true })
    await using fork = await workspace.fork()
    expect(await fork.changes()).toEqual([])
    await fork.write('/a', 'two')
    await fork.write('/new', 'n')
    await fork.write('/both', 'theirs')
    await fork.delete('/d', { recursive: true })
    await workspace.write('/both', 'ours')
    expect(await workspace.readText('/a')).toBe('one')
    const result = await workspace.merge(fork)
    expect(result).toMatchObject({
      merged: [{ path: '/a', kind: 'changed' }, { path: '/d' }, { path: '/d/x' }, { path: '/new' }],
      conflicts: [{ path: '/both', reason: 'it was changed here too' }],
      kept: [],
    })
    expect(await workspace.readText('/a')).toBe('two')
    expect(await workspace.readText('/both')).toBe('ours')
    expect(await workspace.exists('/d')).toBe(false)
    expect(await workspace.merge(fork)).toMatchObject({ merged: [], conflicts: [{ path: '/both' }] })
    await workspace.restore(result.undo ?? '')
    expect(await workspace.readText('/a')).toBe('one')
    expect(await workspace.readText('/d/x')).toBe('x')
  })
})

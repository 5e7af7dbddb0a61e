import { rules } from '@ws/core'
import type { Workspace } from '@ws/core'
import { codeOf } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/index.ts'

const tree = {
  '/': { '/a.ts': 'x', '/src/b.ts': 'x', '/src/.c/d.ts': 'x', '/e.js': 'x' },
  '/src/gen': { '/f.ts': 'x', '/g/.h.ts': 'x', '/i.js': 'x', '/j.md': 'x' },
  '/dep/node_modules': { '/k.ts': 'x' },
}

describe('globs of a search over several mounts', () => {
  it.each<[glob: string | string[], expected: string[], from?: string]>([
    ['*.ts', ['/a.ts', '/dep/node_modules/k.ts', '/src/.c/d.ts', '/src/b.ts', '/src/gen/f.ts', '/src/gen/g/.h.ts']],
    ['src/**', ['/src/.c/d.ts', '/src/b.ts', '/src/gen/f.ts', '/src/gen/g/.h.ts', '/src/gen/i.js', '/src/gen/j.md']],
    [
      ['*.js', 'src/gen/*.md'],
      ['/e.js', '/src/gen/i.js', '/src/gen/j.md'],
    ],
    [
      ['*.ts', '!node_modules', '!src/gen/g'],
      ['/a.ts', '/src/.c/d.ts', '/src/b.ts', '/src/gen/f.ts'],
    ],
    [
      ['*.ts', '!src/gen'],
      ['/a.ts', '/dep/node_modules/k.ts', '/src/.c/d.ts', '/src/b.ts'],
    ],
    ['gen/**/*.ts', ['/src/gen/f.ts', '/src/gen/g/.h.ts'], '/src'],
  ])('[RU4] %j selects the same as in one mount', async (glob, expected, from = '/') => {
    const oneMount = Object.fromEntries(
      Object.entries(tree).flatMap(([at, files]) =>
        Object.entries(files).map(([path, text]) => [at === '/' ? path : at + path, text]),
      ),
    )
    for (const files of [tree, { '/': oneMount }]) {
      const { workspace } = await openMemory(files)
      expect((await found(workspace, { in: from, glob })).toSorted()).toEqual(expected)
    }
  })

  it('counts only hits that it gives', async () => {
    const { workspace } = await openMemory({ '/': {}, '/m': { '/a.js': 'x\nx\nx', '/b.ts': 'x' } })
    expect(await found(workspace, { glob: 'm/*.ts', maxHits: 1 })).toEqual(['/m/b.ts'])
    const hidden = await openMemory({ '/': { '/a': 'x\nx\nx', '/b': 'x' } }, { rules: [rules.denyGlob('a')] })
    expect(await found(hidden.workspace, { maxHits: 1 })).toEqual(['/b'])
  })

  it('[RU8] more paths than can be compared with each entry are refused', async () => {
    const { workspace } = await openMemory(tree)
    const exclude = Array.from({ length: 1001 }, (_, index) => `/${index}`)
    expect(await codeOf(workspace.search('x', { exclude }).next())).toBe('EINVAL')
    expect(await codeOf(workspace.list('/', { exclude }).next())).toBe('EINVAL')
    expect(await codeOf(workspace.list('/', { exclude: exclude.slice(1) }).next())).toBe('done')
  })

  it('[RU7] a malformed glob is EINVAL before anything is searched', async () => {
    const { workspace } = await openMemory(tree)
    for (const glob of ['', '!', '[a', '{a', 'a\\', 'a//b', ['*.ts', 5 as never], 5 as never, null as never]) {
      expect(await codeOf(workspace.search('x', { glob }).next()), String(glob)).toBe('EINVAL')
    }
  })
})

async function found(workspace: Workspace, options: Parameters<Workspace['search']>[1]): Promise<string[]> {
  return (await Array.fromAsync(workspace.search('x', options))).map(({ path }) => path)
}

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, type Workspace } from '@ws/core'
import { component, createScratchDirectory, describeWith, put, rounds } from '@ws/test-fixtures'
import fc from 'fast-check'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import recorded from './recorded.json' with { type: 'json' }
import { treesOfTemplates } from './templates.ts'
import { byGit, byRipgrep, ofGit, type Tree, treesWith } from './trees.ts'

const ignoreFiles = ['.gitignore', '.ignore', '.rgignore']
const needle = '#needle'

/** Each file of a tree has a line to find; in ignore files it is a comment. */
function filled(tree: Tree): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).map(([path, text]) => [`/${path}`, `${text}\n${needle}\n`]))
}

async function onMemory(tree: Tree): Promise<Workspace> {
  return createWorkspace({ mounts: [{ at: '/', adapter: createMemoryAdapter({ files: filled(tree) }) }] })
}

/** The files that a glob and a search leave, which must be the same. */
async function left(workspace: Workspace): Promise<string[]> {
  const globbed: string[] = []
  for await (const { path, type } of workspace.glob('**', { gitignore: true })) {
    if (type === 'file') globbed.push(path.slice(1))
  }
  const searched: string[] = []
  for await (const { path } of workspace.search(needle, { gitignore: true, maxHits: 10_000 }))
    searched.push(path.slice(1))
  expect(searched.toSorted()).toEqual(globbed.toSorted())
  return globbed.toSorted()
}

describe('ignore files', () => {
  it('[FS9] leave out what ripgrep and git leave out, in recorded trees and 40 templates', async () => {
    for (const [tree, expected] of recorded as unknown as [Tree, string[]][]) {
      expect(await left(await onMemory(tree)), JSON.stringify(tree)).toEqual(expected)
    }
  })

  it('[FS9] are read above the start, up to the root of a repository, and not for a path that is given', async () => {
    const workspace = await onMemory({
      '.gitignore': 'x.log\nout/\n',
      '.ignore': 'y.log',
      'in/x.log': '',
      'in/y.log': '',
      'in/z.log': '',
      'in/repo/.git/HEAD': '',
      'in/repo/x.log': '',
      'in/repo/y.log': '',
      'out/a.txt': '',
    })
    const found = async (path: string, glob = '**') => {
      const all: string[] = []
      for await (const entry of workspace.glob(glob, { in: path, gitignore: true }))
        if (entry.type === 'file') all.push(entry.path)
      return all
    }
    expect(await found('/in')).toEqual(['/in/repo/x.log', '/in/z.log'])
    expect(await found('/out')).toEqual(['/out/a.txt'])
    expect(await found('/', 'out/*')).toEqual(['/out/a.txt'])
    expect(await found('/', 'in/x.log')).toEqual(['/in/x.log'])
    const hits: string[] = []
    for await (const { path } of workspace.search(needle, { in: '/out', gitignore: true })) hits.push(path)
    for await (const { path } of workspace.search(needle, { in: '/in/x.log', gitignore: true })) hits.push(path)
    expect(hits).toEqual(['/out/a.txt', '/in/x.log'])
  })

  it('[FS9] of 10 MB, or with rules that take too long, are named and not applied', async () => {
    const tree = {
      'big/.gitignore': 'a\n'.repeat(5_000_000),
      'slow/.gitignore': '*?'.repeat(400).concat('\n').repeat(9),
      'big/a': '',
    }
    const workspace = await onMemory({
      ...tree,
      'slow/.ignore': Array.from({ length: 9000 }, (_, at) => `*${at}?x`).join('\n'),
    })
    const told: string[] = []
    const onUnreadable = (path: string, { message }: Error): number => told.push(`${path} ${message}`)
    const found: string[] = []
    for await (const { path } of workspace.search(needle, { gitignore: true, glob: 'a', onUnreadable }))
      found.push(path)
    expect(found).toEqual(['/big/a'])
    expect(told.toSorted()).toEqual([
      expect.stringMatching(
        /^\/big\/\.gitignore EFBIG.*`\/big\/\.gitignore` is too large.*262144 bytes; its rules are not applied/u,
      ),
      expect.stringMatching(/^\/slow\/\.ignore EFBIG.*take too long to match; its rules are not applied/u),
    ])
  })

  it('[FS9] that rules deny are not read, and links are not followed', async () => {
    const adapter = createMemoryAdapter({ files: { '/.gitignore': 'a', '/a': needle, '/b': needle, '/real': 'b' } })
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], rules: [rules.deny('/.gitignore')] })
    await workspace.createSymlink('/.ignore', 'real')
    const found: string[] = []
    for await (const { path } of workspace.search(needle, { gitignore: true })) found.push(path)
    expect(found).toEqual(['/a', '/b'])
  })

  it('[FS9] on a disk say the same, and an ignored directory is not entered', { tags: 'all' }, async () => {
    const directory = await createScratchDirectory()
    const adapter = () => createLocalAdapter({ root: directory.path, owner: directory.owner })
    for (const [index, [tree, expected]] of (recorded as unknown as [Tree, string[]][]).slice(0, 40).entries()) {
      for (const [path, text] of Object.entries(filled(tree)))
        await put(join(directory.path, String(index), path), text, directory.path)
      const workspace = await createWorkspace({ mounts: [{ at: `/${index}`, adapter }] })
      const found = new Set<string>()
      for await (const { path } of workspace.search(needle, { in: `/${index}/${index}`, gitignore: true }))
        found.add(path)
      expect([...found].map((path) => path.slice(`/${index}/${index}/`.length)).toSorted()).toEqual(expected)
      await workspace.close()
    }
    await directory.remove()
  })
})

describeWith([component('rg'), component('git')], 'ignore files beside the programs', { tags: 'deep' }, () => {
  it('[FS9] agree with ripgrep and git on random trees', async () => {
    const seed = Number(process.env['WS_SEED'] ?? Date.now() % 1_000_000)
    for (const round of rounds({ quick: 1, seconds: 60 })) {
      const [first] = fc.sample(treesWith({ ignoreFiles }), { seed: seed + round, numRuns: 1 })
      const [second] = fc.sample(treesWith({ ignoreFiles: ['.gitignore'], extra: ofGit }), {
        seed: seed + round,
        numRuns: 1,
      })
      const note = (tree: Tree | undefined): string => `seed ${seed + round}: ${JSON.stringify(tree)}`
      if (first !== undefined) expect(await left(await onMemory(first)), note(first)).toEqual(await byRipgrep(first))
      if (second !== undefined) expect(await left(await onMemory(second)), note(second)).toEqual(await byGit(second))
    }
  }, 120_000)

  it('[FS9] agree with ripgrep and git on 40 templates', async () => {
    for (const tree of treesOfTemplates()) {
      const found = await left(await onMemory(tree))
      expect(found, tree['.gitignore']).toEqual(await byRipgrep(tree))
      expect(found, tree['.gitignore']).toEqual(await byGit(tree))
    }
  }, 120_000)
})

/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, isWorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { component, createScratchDirectory, describeWith, deep } from '@ws/test-fixtures'
import fc from 'fast-check'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

import { Kernel, type Question } from './kernel.ts'

const numRuns = deep ? 250 : 40

type Entry =
  | { readonly at: string; readonly kind: 'directory' }
  | { readonly at: string; readonly kind: 'file' }
  | { readonly at: string; readonly kind: 'link'; readonly target: string }

const name = fc.constantFrom('a', 'b', 'c')
const piece = fc.oneof(
  { weight: 5, arbitrary: name },
  { weight: 3, arbitrary: fc.constant('..') },
  { weight: 1, arbitrary: fc.constantFrom('.', '', 'missing') },
)
const anyPath = fc
  .tuple(fc.boolean(), fc.array(piece, { minLength: 1, maxLength: 7 }))
  .map(([absolute, pieces]) => (absolute ? '/' : '') + pieces.join('/'))
const place = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
/** Half of the targets and paths are such that they often lead somewhere. */
const target = fc.oneof(
  anyPath.filter((path) => path !== ''),
  place,
  place.map((path) => `/${path}`),
  place.map((path) => `../${path}`),
)
const given = fc.oneof(
  { weight: 2, arbitrary: anyPath },
  { weight: 1, arbitrary: fc.tuple(place, name).map(([path, last]) => `${path}/../${last}`) },
)
const entry: fc.Arbitrary<Entry> = fc.oneof(
  { weight: 4, arbitrary: place.map((at) => ({ at, kind: 'directory' as const })) },
  { weight: 2, arbitrary: place.map((at) => ({ at, kind: 'file' as const })) },
  {
    weight: 5,
    arbitrary: fc.tuple(place, target).map(([at, to]) => ({ at, kind: 'link' as const, target: to })),
  },
)

/** Names only: `mkdir -p` makes `a` in `a/../b`, and the file API does not. */
const below = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join('/')}`)

/** Entries that can be made one after the other: each lies in a directory, and nowhere is one already. */
const tree: fc.Arbitrary<readonly Entry[]> = fc.array(entry, { minLength: 3, maxLength: 16 }).map((entries) => {
  const directories = new Set([''])
  const taken = new Set<string>()
  return entries.filter(({ at, kind }) => {
    if (taken.has(at) || !directories.has(at.split('/').slice(0, -1).join('/'))) return false
    taken.add(at)
    if (kind === 'directory') directories.add(at)
    return true
  })
})

function makeOnDisk(root: string, entries: readonly Entry[]): void {
  for (const one of entries) {
    const path = join(root, one.at)
    if (one.kind === 'directory') mkdirSync(path)
    else if (one.kind === 'file') writeFileSync(path, one.at)
    else symlinkSync(one.target, path)
  }
}

async function makeInMemory(entries: readonly Entry[]): Promise<StorageAdapter> {
  const adapter = createMemoryAdapter()
  for (const one of entries) {
    const path = `/${one.at}` as Parameters<StorageAdapter['stat']>[0]
    if (one.kind === 'directory') await adapter.createDirectory(path)
    else if (one.kind === 'file') await adapter.write(path, Buffer.from(one.at))
    else await adapter.createSymlink?.(path, one.target)
  }
  return adapter
}

const open = (adapter: StorageAdapter): Promise<Workspace> =>
  createWorkspace({ mounts: [{ at: '/', adapter }], aliases: {}, scratch: false })

async function answer(workspace: Workspace, [what, path]: Question): Promise<string> {
  try {
    if (what === 'stat') return (await workspace.stat(path)).type
    if (what === 'read') return `content ${await workspace.readText(path)}`
    if (what === 'write' || what === 'parents') {
      await workspace.write(path, 'written', { parents: what === 'parents' })
      return 'written'
    }
    if (what === 'make') {
      await workspace.createDirectory(path)
      return 'written'
    }
    const names: string[] = []
    for await (const found of workspace.list(path)) names.push(found.name)
    return `names ${names.sort().join(' ')}`
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return error.code
  }
}

/** The kernel stays at the root where it is climbed above; the API refuses, as soon as the text says so. */
function climbs(path: string): boolean {
  let depth = 0
  return path.split('/').some((one) => {
    if (one !== '' && one !== '.') depth += one === '..' ? -1 : 1
    return depth < 0
  })
}

function contentsOf(root: string, at = ''): string[] {
  return readdirSync(join(root, at)).flatMap((one) => {
    const path = `${at}/${one}`
    const stat = lstatSync(join(root, path))
    if (stat.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(root, path))}`]
    return stat.isFile() ? [`${path}: ${readFileSync(join(root, path), 'utf8')}`] : [path, ...contentsOf(root, path)]
  })
}

async function contentsIn(adapter: StorageAdapter): Promise<string[]> {
  const found: string[] = []
  for await (const { path, type } of adapter.list('/' as Parameters<StorageAdapter['list']>[0], { recursive: true })) {
    if (type === 'symlink') found.push(`${path} -> ${await adapter.readSymlink?.(path)}`)
    else found.push(type === 'file' ? `${path}: ${Buffer.from((await adapter.read(path)).bytes).toString()}` : path)
  }
  return found
}

const isRoot = process.getuid?.() === 0
describeWith(
  [component('python3'), ...(isRoot ? [] : [component('user-namespaces')])],
  'links and `..`, against the kernel in a chroot',
  () => {
    it('[PC19] every path reads, lists and is described as the kernel has it: memory and local', {
      tags: 'rounds',
    }, async () => {
      await using scratch = await createScratchDirectory()
      await using kernel = new Kernel()
      const seen = new Map<string, number>()
      await fc.assert(
        fc.asyncProperty(tree, fc.array(given, { minLength: 10, maxLength: 30 }), async (entries, paths) => {
          const root = mkdtempSync(join(scratch.path, 'tree-'))
          makeOnDisk(root, entries)
          const questions: Question[] = paths
            .filter((path) => path !== '')
            .flatMap((path): Question[] => {
              // A slash at the end: no file can be read, for any reason, and the kernel follows a link to describe it.
              const slash = /\/\.*$/.test(path) || /^\.*$/.test(path)
              return slash
                ? [['names', path]]
                : [
                    ['read', path],
                    ['names', path],
                    ['stat', path],
                  ]
            })
          const expected = await kernel.ask(root, questions)
          const adapters = [await makeInMemory(entries), await createLocalAdapter({ root, owner: scratch.owner })]
          for (const adapter of adapters) {
            await using workspace = await open(adapter)
            for (const [index, question] of questions.entries()) {
              const found = await answer(workspace, question)
              const verdict = climbs(question[1]) ? 'EOUTSIDE' : (expected[index] ?? '')
              const [kind = ''] = verdict.split(' ')
              seen.set(kind, (seen.get(kind) ?? 0) + 1)
              if (found !== verdict)
                expect.fail(`${adapter.name}: ${question.join(' ')}: ${found}, and the kernel says ${verdict}`)
            }
            await adapter.close()
          }
          rmSync(root, { recursive: true })
        }),
        { seed: 20_261_121, numRuns },
      )
      for (const kind of ['content', 'names', 'EISDIR', 'ENOENT', 'ENOTDIR', 'ELOOP', 'EOUTSIDE', 'symlink']) {
        expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(numRuns / 10)
      }
    })

    const writes = [
      {
        title: '[PC19] a write lands where the kernel would put it, and nowhere else: memory and local',
        // and up again after each link, where guessing goes wrong
        asked: (entries: readonly Entry[], given: readonly string[]): Question[] =>
          [
            ...given,
            ...entries.filter(({ kind }) => kind === 'link').map(({ at }) => `${at}/../new-${at.length}`),
          ].flatMap((path): Question[] => (path === '' || climbs(path) ? [] : [['write', path]])),
        paths: given,
      },
      {
        title:
          '[PC19] parents are made where `mkdir -p` makes them, never behind a link that leads nowhere: memory and local',
        asked: (_: readonly Entry[], given: readonly string[]): Question[] =>
          given.map((path, index) => [index % 2 === 0 ? 'parents' : 'make', path]),
        paths: below,
      },
    ]
    it.for(writes)('$title', { tags: 'rounds' }, async ({ asked, paths: path }) => {
      await using scratch = await createScratchDirectory()
      await using kernel = new Kernel()
      let written = 0
      await fc.assert(
        fc.asyncProperty(tree, fc.array(path, { minLength: 1, maxLength: 6 }), async (entries, paths) => {
          const questions = asked(entries, paths)
          const [kernels, locals] = [
            mkdtempSync(join(scratch.path, 'kernel-')),
            mkdtempSync(join(scratch.path, 'local-')),
          ]
          for (const root of [kernels, locals]) makeOnDisk(root, entries)
          const verdicts = await kernel.ask(kernels, questions)
          const expected = contentsOf(kernels).sort()
          written += verdicts.filter((verdict) => verdict === 'written').length
          for (const adapter of [
            await makeInMemory(entries),
            await createLocalAdapter({ root: locals, owner: scratch.owner }),
          ]) {
            await using workspace = await open(adapter)
            for (const [index, question] of questions.entries()) {
              const found = await answer(workspace, question)
              const verdict = verdicts[index]
              // which error it is, is shown for reading; there are more words for it when something cannot be made
              expect(
                found === 'written',
                `${adapter.name}: ${question.join(' ')}: ${found}, and the kernel says ${verdict}`,
              ).toBe(verdict === 'written')
            }
            expect((await contentsIn(adapter)).sort(), `${adapter.name}: ${questions.join(' ')}`).toEqual(expected)
            await adapter.close()
          }
          for (const root of [kernels, locals]) rmSync(root, { recursive: true })
        }),
        { seed: 20_261_121, numRuns: numRuns * 2 },
      )
      expect(written).toBeGreaterThan(numRuns / 10)
    })
  },
)

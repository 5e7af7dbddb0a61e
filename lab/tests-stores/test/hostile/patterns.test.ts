/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, paths, rules } from '@ws/core'
import type { Rule, Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory, deep } from '@ws/test-fixtures'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endsInTime, holds } from '@ws/tests-support'
import type { Attempt } from '@ws/tests-support'
import { hostileExpressions, hostileGlobs, hostileTexts, hostileTree } from './patterns.ts'

/** Stores, and how deep a directory may lie in them. */
const stores: Readonly<Record<string, { readonly depth: number; open(): Promise<StorageAdapter> }>> = {
  memory: { depth: 1500, open: async () => createMemoryAdapter() },
  local: {
    depth: 300,
    async open() {
      const scratch = await createScratchDirectory()
      ends.push(() => scratch.remove())
      return createLocalAdapter({ root: scratch.path, owner: scratch.owner })
    },
  },
  s3: {
    depth: 400,
    async open() {
      const server = await sharedS3Server('r2')
      ends.push(() => server.close())
      const { bucket, endpoint, region, credentials } = server
      return createS3Adapter({ bucket, endpoint, region, credentials, prefix: 'hostile-patterns' })
    },
  },
}
const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

/** One pattern of so many: all of them in memory, where nothing but the patterns takes time, and in the deep tier. */
function sampled<Pattern>(patterns: readonly Pattern[], store: string): readonly Pattern[] {
  const oneOf = !deep ? 12 : store === 'memory' ? 1 : 8
  return patterns.filter((_, index) => index % oneOf === 0)
}

function shown(pattern: string): string {
  return pattern.length > 40 ? `${pattern.slice(0, 30)}… (${pattern.length})` : pattern
}

for (const name of Object.keys(stores))
  describe(`hostile patterns in ${name}`, { tags: name === 'memory' ? ['rounds'] : ['deep'] }, () => {
    let adapter: StorageAdapter
    let deepest = ''

    const open = async (list: readonly Rule[] = []): Promise<Workspace> =>
      createWorkspace({
        mounts: [
          { at: '/', adapter },
          {
            at: '/nested',
            adapter: () => createMemoryAdapter({ files: { [`/${'a'.repeat(200)}`]: 'x', '/.b/c': 'x' } }),
          },
        ],
        rules: list,
        scratch: false,
      })

    beforeAll(async () => {
      const store = stores[name]
      if (store === undefined) throw new Error('no such store')
      adapter = await store.open()
      ends.push(() => adapter.close())
      const tree = hostileTree(store.depth)
      deepest = Object.keys(tree).find((path) => path.endsWith('/f')) ?? ''
      for (const [path, text] of Object.entries(tree)) {
        await adapter.write(paths.parseMount(path), new TextEncoder().encode(text), { parents: true })
      }
      const workspace = await open()
      // Code that the engine of the language compiles late is compiled now.
      for (let round = 0; round < 3; round += 1) {
        await Array.fromAsync(workspace.search('x|y', { regex: true, glob: ['**/a*/**/f', '!*.js'] }))
        await Array.fromAsync(workspace.search('zq$', { regex: true }))
        await Array.fromAsync(workspace.list('/', { recursive: true }))
      }
      await workspace.close()
    }, 60_000)

    it('[RU4] [RU8] globs in a search are answered or refused in time', async () => {
      const workspace = await open()
      const outcomes = new Set<string>()
      for (const glob of sampled(hostileGlobs, name)) {
        for (const list of [[glob], [`!${glob}`], ['*.x', glob, `!${glob}`]]) {
          const attempt: Attempt = (it, signal) => it.search('x', { glob: list, signal })
          outcomes.add(await holds(workspace, attempt, `${list[0] === glob ? '' : '!'}${shown(glob)}`))
          await endsInTime(workspace, attempt, shown(glob))
        }
      }
      expect([...outcomes]).toEqual(expect.arrayContaining(['EINVAL', 'found 0']))
      await workspace.close()
    }, 240_000)

    it('[RU4] [RU8] globs in rules and excluded paths are answered or refused in time', async () => {
      const outcomes = new Set<string>()
      const plain = await open()
      for (const glob of sampled(hostileGlobs, name)) {
        const excluded: Attempt = (it, signal) => it.list('/', { recursive: true, exclude: [glob], signal })
        await holds(plain, excluded, `excluding ${shown(glob)}`)
        let workspace: Workspace | undefined
        const making: Attempt = async () => {
          await workspace?.close()
          workspace = await open([rules.denyGlob(glob)])
        }
        const outcome = await holds(plain, making, `a rule with ${shown(glob)}`)
        outcomes.add(outcome)
        if (workspace === undefined || outcome !== 'done') continue
        for (const attempt of [
          (it, signal) => it.list('/', { recursive: true, details: true, signal }),
          (it, signal) => it.search('x', { signal }),
          (it, signal) => it.stat(deepest, { signal }),
          (it, signal) => it.read(`/nested/${'a'.repeat(200)}`, { signal }),
          (it) => it.explain({ operation: 'read', path: deepest }),
        ] satisfies Attempt[]) {
          await holds(workspace, attempt, `with a rule for ${shown(glob)}`)
        }
        await (workspace as Workspace).close()
      }
      expect([...outcomes].toSorted()).toEqual(['EINVAL', 'done'])
      await plain.close()
    }, 240_000)

    it('[RU8] expressions and texts are answered or refused in time', async () => {
      const workspace = await open()
      const outcomes = new Map<string, string>()
      const patterns = [
        ...hostileExpressions.map((one) => [one, true] as const),
        ...hostileTexts.map((one) => [one, false] as const),
      ]
      for (const [pattern, regex] of sampled(patterns, name)) {
        for (const caseSensitive of [true, false]) {
          const attempt: Attempt = (it, signal) => it.search(pattern, { regex, caseSensitive, maxHits: 50, signal })
          outcomes.set(shown(pattern), await holds(workspace, attempt, shown(pattern)))
          await endsInTime(workspace, attempt, shown(pattern))
        }
      }
      expect(outcomes.get('(a+)+b')).toBe('found 50')
      expect(new Set(outcomes.values()).size).toBeGreaterThan(2)
      await workspace.close()
    }, 240_000)

    it('[RU8] lines without an end are cut off or refused in time', async () => {
      const workspace = await open()
      for (const [path, options] of [
        ['/long', {}],
        ['/long', { offset: 1 }],
        ['/code.min.js', { limit: 1 }],
        ['/ab', { offset: 1490 }],
      ] as const) {
        await holds(workspace, (it, signal) => it.readLines(path, { ...options, signal }), `lines of ${path}`)
      }
      await workspace.close()
    })
  })

it('[RU8] [RU4] has at least 60 hostile patterns', () => {
  expect(hostileGlobs.length + hostileExpressions.length + hostileTexts.length).toBeGreaterThanOrEqual(60)
})

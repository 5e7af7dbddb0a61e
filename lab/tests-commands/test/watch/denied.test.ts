import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, isWorkspaceError, rules } from '@ws/core'
import type { Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createScratchDirectory, rounds, seededRandom } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hear } from './heard.ts'

const denied = [
  rules.deny('/secret'),
  rules.denyGlob('*.key'),
  rules.denyGlob('hidden/**'),
  rules.predicate({ name: 'no-x', test: ({ path }) => !path.endsWith('/x'), reason: 'is x', remedy: 'use y' }),
]
const executed = { executors: [createVirtualExecutor()] }
const directories = ['/a', '/secret', '/a/hidden', '/b', '/a/b', '/a/x']
const names = ['f', 'g.key', 'x', 'hidden', 'secret']

/** Makes, moves and deletes entries of a tree, also above denied names and through links. */
async function act(workspace: Workspace, some: (most: number) => number): Promise<void> {
  const place = (): string => `${directories[some(directories.length)]}/${names[some(names.length)]}`
  const acts = [
    () => workspace.write(place(), `${some(1_000)}`),
    () => workspace.createDirectory(place()),
    () => workspace.createSymlink(place(), directories[some(directories.length)] ?? ''),
    () => workspace.move(place(), place()),
    () => workspace.move(directories[some(directories.length)] ?? '', place()),
    () => workspace.copy(directories[some(directories.length)] ?? '', place()),
    () => workspace.delete(place(), { recursive: true }),
  ]
  try {
    await acts[some(acts.length)]?.()
  } catch (error) {
    if (!isWorkspaceError(error)) throw error // the tree does not allow it
  }
}

describe.each<[string, () => Promise<StorageAdapter>]>([
  ['in memory', async () => createMemoryAdapter()],
  [
    'on a disk',
    async () => {
      const scratch = await createScratchDirectory()
      onTestFinished(() => scratch.remove())
      return createLocalAdapter({ root: scratch.path })
    },
  ],
])('[EF4] a watch under rules, %s', { tags: 'rounds' }, (_, make) => {
  it('names no denied path, and leaves no allowed one out', { timeout: 300_000 }, async () => {
    for (const round of rounds({ quick: 3 })) {
      const random = seededRandom(round)
      const adapter = await make()
      const free = await createWorkspace({ mounts: [{ at: '/', adapter }], scratch: false })
      const ruled = await createWorkspace({
        mounts: [{ at: '/', adapter }],
        rules: denied,
        ...executed,
        scratch: false,
      })
      const { events } = hear(await ruled.watch('/', { interval: 5 }))
      const seen = new Set<string>()
      for (let step = 0; step < 60; step++) {
        await act(random() < 0.3 ? ruled : free, (most) => Math.floor(random() * most))
      }
      await ruled.exec('true', { acknowledge: ['no-x'] })
      for (const event of await events()) {
        if (event.kind === 'overflow') continue
        const shown = await ruled.explain({ operation: 'stat', path: event.path })
        expect({ ...event, effect: shown.effect }).toEqual({ ...event, effect: 'allow' })
        if (event.kind === 'deleted') seen.delete(event.path)
        else seen.add(event.path)
      }
      const there = []
      for await (const { path, version } of ruled.list('/', { recursive: true, details: true }))
        if (version !== undefined) there.push(path)
      expect([...seen].toSorted()).toEqual(there.toSorted())
      await ruled.close()
      await free.close()
      await adapter.close()
    }
  })
})

import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { paths } from '@ws/core'
import { wrapAdapter, type StorageAdapter } from '@ws/core/adapter'
import { describe, expect, it } from 'vitest'

import { createSite, testTypes } from '../support.ts'

const at = (path: string) => paths.parseMount(path, 'test')
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Another writer, who acts once, right before a file of a landing is written: the first, or the one at a path. */
function interrupted(output: StorageAdapter, act: () => Promise<void>, before?: string): StorageAdapter {
  let done = false
  return wrapAdapter(output, {
    name: 'interrupted',
    capabilities: output.capabilities,
    shared: true,
    async call({ operation, path }, run) {
      if (operation === 'write' && !done && (before === undefined || path === before)) {
        done = true
        await act()
      }
      return run()
    },
  })
}

const plan = (files: Readonly<Record<string, string>>, outputs = Object.keys(files)): string =>
  JSON.stringify({ version: 1, steps: [{ id: 'one', type: 'put', with: files, outputs }] })

describe.each(['disk', 'memory'] as const)(
  'what another writer makes in the output while a step lands, on %s',
  (kind) => {
    async function open() {
      const site = await createSite()
      const store = kind === 'disk' ? await createLocalAdapter({ root: site.output }) : createMemoryAdapter()
      const runner = async (act: () => Promise<void>, before?: string) =>
        site.runner({ output: interrupted(store, act, before), types: testTypes })
      const has = (path: string) =>
        store.stat(at(path)).then(
          () => true,
          () => false,
        )
      return { site, store, runner, has }
    }
    const first = plan({ a: 'A', b: 'B', c: 'C' })

    it.each(['file', 'link', 'directory'] as const)(
      '[PM3] stays, and the step fails by its name: a %s',
      async (type) => {
        const { site, store, runner, has } = await open()
        await using _ = site
        const make = async (): Promise<void> => {
          if (type === 'file') await store.write(at('/b'), encode('theirs'))
          else if (type === 'link') await store.createSymlink?.(at('/b'), 'theirs')
          else await store.write(at('/b/deep/file'), encode('theirs'), { parents: true })
        }
        const { steps } = await (await runner(make)).run(first)
        expect(steps['one']).toMatchObject({ state: 'failed', failure: { code: 'ECONFLICT', path: '/output/b' } })
        if (type === 'link') expect(await store.readSymlink?.(at('/b'))).toBe('theirs')
        else {
          const { bytes } = await store.read(at(type === 'file' ? '/b' : '/b/deep/file'))
          expect(new TextDecoder().decode(bytes)).toBe('theirs')
        }
        // nothing of the step is left
        expect([await has('/a'), await has('/c')]).toEqual([false, false])
        if (type === 'directory') await store.delete(at('/b'), { recursive: true })
        else await store.delete(at('/b'))
        expect(await (await runner(async () => undefined)).run(first)).toMatchObject({ state: 'done' })
      },
    )

    // `/b` was looked at then, and only the condition of the write can notice
    it.each(['/a', '/b'])(
      '[PM3] stays, where it changed what an earlier run wrote, before %s is written',
      async (when) => {
        const { site, store, runner } = await open()
        await using _ = site
        expect(await (await runner(async () => undefined)).run(first)).toMatchObject({ state: 'done' })
        const change = async (): Promise<void> => void (await store.write(at('/b'), encode('theirs')))
        const { steps } = await (await runner(change, when)).run(plan({ a: 'A2', b: 'B2', c: 'C2' }))
        expect(steps['one']).toMatchObject({ state: 'failed', failure: { code: 'ECONFLICT', path: '/output/b' } })
        expect(new TextDecoder().decode((await store.read(at('/b'))).bytes)).toBe('theirs')
        expect(new TextDecoder().decode((await store.read(at('/c'))).bytes)).toBe('C')
        // `a` was replaced before: it is the runner's own, and no conflict
        await store.delete(at('/b'))
        const again = await runner(async () => undefined)
        expect(await again.run(plan({ a: 'A3', b: 'B3', c: 'C3' }))).toMatchObject({ state: 'done' })
      },
    )
  },
)

it('[PM3] an empty directory of others stays, where an output is to be a file', async () => {
  await using site = await createSite()
  await mkdir(join(site.output, 'b'))
  const runner = await site.runner({ types: testTypes })
  const { steps } = await runner.run(plan({ b: 'ours' }))
  expect(steps['one']).toMatchObject({ state: 'failed', failure: { code: 'EEXIST', path: '/output/b' } })
  expect(await readdir(join(site.output, 'b'))).toEqual([])
})

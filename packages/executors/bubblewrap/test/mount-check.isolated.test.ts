import { isWorkspaceError } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import type { openSources } from '../src/view/sources.ts'
import { modes, namesBelow, needed, tagsInEachForm, Workbench } from './support/workbench.ts'

const exchanged = vi.hoisted(() => ({ root: undefined as string | undefined }))

// As if another directory had taken the place of a source between its opening and its bind.
vi.mock('../src/view/sources.ts', async (load) => {
  const real = await load<{ readonly openSources: typeof openSources }>()
  return {
    ...real,
    openSources: async (...given: Parameters<typeof openSources>) => {
      const sources = await real.openSources(...given)
      const mounted: typeof sources.mounted = (path) => {
        const seen = sources.mounted(path)
        return seen && exchanged.root !== undefined ? { ...seen, root: exchanged.root } : seen
      }
      return { ...sources, mounted, [Symbol.dispose]: () => sources[Symbol.dispose]() }
    },
  }
})

for (const mode of modes) {
  describeWith(
    needed[mode],
    `a source that was exchanged while the sandbox was built (${mode})`,
    { tags: tagsInEachForm(mode) },
    () => {
      let bench: Workbench
      beforeEach(async () => {
        bench = await Workbench.create(mode)
        await bench.directory(bench.host('part'))
      })
      afterEach(async () => {
        exchanged.root = undefined
        await bench[Symbol.asyncDispose]()
      })

      const parts = [{ kind: 'subtree', at: '/part', access: 'read-only' }] as const

      it('is seen in the mount table, and the command never runs', async () => {
        exchanged.root = '/elsewhere'
        const error = await bench.run('touch ran', { parts }).catch((thrown: unknown) => thrown)
        expect(isWorkspaceError(error, 'EBUSY'), String(error)).toBe(true)
        expect(await namesBelow(bench.host())).toEqual(['part'])
      })

      it('is not seen where nothing was exchanged', async () => {
        expect(await bench.run('touch ran', { parts })).toMatchObject({ exitCode: 0 })
      })
    },
  )
}

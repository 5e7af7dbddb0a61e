import type { StorageAdapter } from '@ws/core/adapter'
import { paths } from '@ws/core'
import { change, type Fault } from './fault.ts'

/** Replaces an adapter's fork. */
function forking(make: (copy: StorageAdapter, inner: StorageAdapter) => Promise<StorageAdapter>): Fault['apply'] {
  return (inner) => {
    const { createFork } = inner
    return createFork === undefined
      ? inner
      : change(inner, { createFork: async (options) => make(await createFork(options), inner) })
  }
}

export const forkFaults: readonly Fault[] = [
  {
    name: 'gives the tree itself in place of a copy',
    caughtBy: 'shares no later change',
    apply: forking(async (_, inner) => change(inner, { close: async () => undefined })),
  },
  {
    name: 'leaves links out of a copy',
    caughtBy: 'copies every entry with content, mode and time',
    apply: forking(async (copy) => {
      await copy.delete(paths.parseMount('/dangling'), { force: true })
      return copy
    }),
  },
  {
    name: 'gives the files of a copy new times',
    caughtBy: 'copies every entry with content, mode and time',
    apply: forking(async (copy) => {
      await copy.utimes?.(paths.parseMount('/dir/a'), { modifiedAt: Date.now() })
      return copy
    }),
  },
  {
    name: 'goes on with a copy after its close',
    caughtBy: 'ends at its own close, and the adapter goes on',
    apply: forking(async (copy) => change(copy, { close: async () => undefined })),
  },
  {
    name: 'ignores the signal of a fork',
    caughtBy: 'ends with the reason of an abort',
    apply: (inner) => change(inner, { createFork: async () => (await inner.createFork?.()) ?? inner }),
  },
]

import { isWorkspaceError } from '@ws/core'
import { rewriteError } from '@ws/core/adapter'
import { deleteTree } from './delete/delete.ts'
import { DirectoryHints } from './store/hints.ts'
import { KeySpace } from './keys/key-space.ts'
import { makeReservedName } from './keys/names.ts'
import type { Store } from './store/store.ts'

/** Makes a part of the store for temporary files, hidden from listings. `release` empties it; otherwise lifecycle rules do. */
export function createScratch(store: Store): {
  readonly store: Store
  readonly release: (used: boolean) => Promise<void>
} {
  const { dialect, links } = store
  const keys = new KeySpace({
    prefix: `${store.keys.prefix}${makeReservedName('scratch')}`,
    links,
    controlCharacters: dialect.controlCharacters,
    normalised: dialect.normalisesKeys,
  })
  const inner: Store = { ...store, keys, hints: new DirectoryHints() }
  const release = async (used: boolean): Promise<void> => {
    if (!used || store.requests.closed) return
    const task = { operation: 'close', path: '/', until: store.requests.begin() }
    await deleteTree(inner, '/' as never, task).catch((error: unknown) => {
      if (!isWorkspaceError(error)) throw error
      const reason = 'has left temporary files in the bucket: the store did not remove them'
      const remedy = `${error.remedy ?? 'check the store'}; then remove what lies below \`.ws-scratch-…\``
      throw rewriteError(error, { reason, remedy, partial: undefined })
    })
  }
  return { store: inner, release }
}

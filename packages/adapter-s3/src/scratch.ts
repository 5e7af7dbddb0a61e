import type { StorageAdapter } from '@ws/core/adapter'
import type { S3AdapterParts } from './adapter.ts'
import { deleteTree } from './delete/delete.ts'
import { DirectoryHints } from './directories/hints.ts'
import { KeySpace } from './keys/key-space.ts'
import { makeReservedName } from './keys/names.ts'
import type { Store } from './store.ts'

/** A part of the store for temporary files, hidden from listings. `close()` empties it; else lifecycle rules do. */
export function createScratch(
  store: Store,
  make: (parts: Pick<S3AdapterParts, 'store' | 'release'>) => StorageAdapter,
): StorageAdapter {
  const { dialect, links } = store
  const keys = new KeySpace({
    prefix: `${store.keys.prefix}${makeReservedName('scratch')}`,
    links,
    controlCharacters: dialect.controlCharacters,
    normalised: dialect.normalisesKeys,
  })
  const inner: Store = { ...store, keys, hints: new DirectoryHints() }
  const release = async (): Promise<void> => {
    if (store.requests.closed) return
    await deleteTree(inner, '/' as never, { operation: 'close', path: '/', until: store.requests.begin() })
  }
  return make({ store: inner, release })
}

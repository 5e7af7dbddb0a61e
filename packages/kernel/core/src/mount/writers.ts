import type { StorageAdapter } from '../contract/adapter.ts'
import type { HostDirectory } from '../contract/file-types.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { virtualError } from './errors.ts'
import { contains } from './host-roots.ts'
import type { WorkspaceMount } from './mounts.ts'

interface Writer {
  readonly isTrying: () => boolean
  readonly stores: readonly { readonly adapter: StorageAdapter; readonly directory: HostDirectory | undefined }[]
}

/** The open workspaces of this process that can change files. */
const writers = new Set<Writer>()

export interface Writers {
  /** Returns whether another workspace of this process can change the same files. */
  readonly hasOther: () => boolean
  readonly leave: () => void
}

/** @throws WorkspaceError `EBUSY` while a try is open in a workspace of the same files */
export function joinWriters(
  mounts: readonly WorkspaceMount[],
  directories: ReadonlyMap<VirtualPath, HostDirectory>,
  isTrying: () => boolean,
): Writers {
  const stores = mounts.flatMap(({ at, access, adapter }) =>
    access === 'read-only' || adapter === undefined ? [] : [{ adapter, directory: directories.get(at) }],
  )
  const own: Writer = { isTrying, stores }
  const others = (): Writer[] => [...writers].filter((writer) => writer !== own && isSame(writer, own))
  if (others().some((other) => other.isTrying())) {
    throw virtualError({
      code: 'EBUSY',
      operation: 'createWorkspace',
      reason: 'a try is open in another workspace of the same files',
      remedy: 'end it by `keep()` or `drop()` of its result',
    })
  }
  writers.add(own)
  return { hasOther: () => others().length > 0, leave: () => void writers.delete(own) }
}

function isSame(one: Writer, other: Writer): boolean {
  return one.stores.some((a) =>
    other.stores.some((b) => {
      if (a.adapter === b.adapter) return true
      if (a.directory === undefined || b.directory === undefined)
        return a.adapter.identity !== undefined && a.adapter.identity === b.adapter.identity
      const isOne = a.directory.identity === b.directory.identity
      return isOne || contains(a.directory, b.directory) || contains(b.directory, a.directory)
    }),
  )
}

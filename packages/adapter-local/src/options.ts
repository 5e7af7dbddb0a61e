import { resolve } from 'node:path'

import { type Owner, WorkspaceError } from '@ws/core'

export interface LocalAdapterOptions {
  /** The directory (absolute, or from the process's working directory). It must exist; a link to one is resolved once. */
  readonly root: string
  /**
   * Who gets what is created, and whom commands run as. Default: as root the owner of the root directory, else this
   * process's own user, who alone is possible then.
   */
  readonly owner?: Owner | undefined
  /**
   * `auto` (default): small local work at once on this thread, everything that may block on the pool. `async`: everything
   * on the pool.
   */
  readonly io?: 'auto' | 'async' | undefined
}

export interface ScratchAdapterOptions {
  /** Default: this process's own user. */
  readonly owner?: Owner | undefined
  readonly io?: 'auto' | 'async' | undefined
}

export interface CheckedOptions {
  readonly root: string
  readonly owner: Owner | undefined
  readonly io: 'auto' | 'async'
}

const highestId = 2 ** 32 - 2

/** @throws WorkspaceError `EINVAL`. */
export function checkOptions(options: LocalAdapterOptions): CheckedOptions {
  if (typeof options !== 'object' || options === null) throw invalid('the options are missing', 'pass { root }')
  const { root, owner, io } = options
  if (typeof root !== 'string' || root === '' || root.includes('\0') || !root.isWellFormed()) {
    throw invalid('`root` must be the path of a directory', 'pass { root: "/path/to/directory" }')
  }
  return { root: resolve(root), ...checkShared({ owner, io }) }
}

/** @throws WorkspaceError `EINVAL`. */
export function checkShared({ owner, io = 'auto' }: ScratchAdapterOptions): Omit<CheckedOptions, 'root'> {
  if (io !== 'auto' && io !== 'async') throw invalid('`io` must be "auto" or "async"', 'leave it out')
  if (owner !== undefined) checkOwner(owner)
  return { owner, io }
}

function checkOwner(owner: Owner): void {
  const isId = (id: unknown): boolean => typeof id === 'number' && Number.isInteger(id) && id >= 0 && id <= highestId
  if (typeof owner !== 'object' || owner === null || !isId(owner.uid) || !isId(owner.gid)) {
    throw invalid('`owner` must be { uid, gid } with whole numbers', 'pass the ids of an ordinary user')
  }
  if (owner.uid === 0) throw invalid('`owner` must not be uid 0', 'pass the ids of an ordinary user')
  const own = process.getuid?.()
  if (own !== undefined && own !== 0 && (owner.uid !== own || owner.gid !== process.getgid?.())) {
    throw invalid('`owner` must be the own user, since only root can give files away', 'leave it out, or run as root')
  }
}

export function invalid(reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'createLocalAdapter', reason, remedy })
}

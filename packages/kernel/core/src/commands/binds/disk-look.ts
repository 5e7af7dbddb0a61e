import { LinkSignal } from '../../adapter/link-signal.ts'
import type { Entry } from '../../contract/file-types.ts'
import type { InnerListOptions } from '../../contract/inner.ts'
import { isWorkspaceError } from '../../errors.ts'
import type { WorkspaceMount } from '../../mount/mounts.ts'
import { foldName } from '../../path/segments.ts'
import { childPath, isWithin, parentPath, relativeTo, segmentsOf, type VirtualPath } from '../../path/virtual-path.ts'

type FoldedNames = ReadonlyMap<string, readonly string[]>

/** Finds entries under another spelling of a name. Lists each directory once, even if many names lead through it. */
export class VariantLook {
  readonly #names = new Map<VirtualPath, Promise<FoldedNames>>()

  async variantsOf(path: VirtualPath, mount: WorkspaceMount): Promise<VirtualPath[]> {
    let candidates: VirtualPath[] = [mount.at]
    const closed: VirtualPath[] = []
    const inside = relativeTo(path, mount.at)
    for (const name of segmentsOf(inside)) {
      const folded = foldName(name)
      const next: VirtualPath[] = []
      for (const directory of candidates) {
        try {
          const found = (await this.#namesIn(directory, mount)).get(folded) ?? []
          for (const variant of found) next.push(childPath(directory, variant))
        } catch (error) {
          // An unreadable directory is covered as a whole.
          if (isWithin(path, directory) || !isWorkspaceError(error)) throw error
          closed.push(directory)
        }
      }
      candidates = next
      if (candidates.length === 0) break
    }
    return [...candidates.filter((candidate) => candidate !== path), ...closed]
  }

  #namesIn(directory: VirtualPath, mount: WorkspaceMount): Promise<FoldedNames> {
    const known = this.#names.get(directory) ?? listNames(directory, mount)
    this.#names.set(directory, known)
    return known
  }
}

async function listNames(directory: VirtualPath, mount: WorkspaceMount): Promise<FoldedNames> {
  const names = new Map<string, string[]>()
  try {
    await eachEntry(mount, directory, ({ name, unreachable }) => {
      if (unreachable === true) return undefined
      const folded = foldName(name)
      const same = names.get(folded)
      if (same === undefined) names.set(folded, [name])
      else same.push(name)
      return undefined
    })
  } catch (error) {
    if (!isGone(error)) throw error
  }
  return names
}

/** Calls `callback` for each entry of a directory or tree, until `callback` returns `'stop'`. */
export async function eachEntry(
  mount: WorkspaceMount,
  directory: VirtualPath,
  callback: (entry: Entry) => 'stop' | undefined,
  options?: InnerListOptions,
): Promise<void> {
  const entries = mount.adapter?.list(relativeTo(directory, mount.at), options)
  let stopped = true
  try {
    for (let next = await entries?.next(); next?.done === false; next = await entries?.next()) {
      if (callback(next.value) === 'stop') return
      // Takes ready entries without a promise per entry: the start of a command waits for all entries.
      for (let at = entries?.nextNow?.(); at !== undefined; at = entries?.nextNow?.()) {
        if (callback(at) === 'stop') return
      }
    }
    stopped = false
  } finally {
    if (stopped) await entries?.return?.()
  }
}

export function isGone(error: unknown): boolean {
  return error instanceof LinkSignal || isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')
}

/** `below-file`: the path leads through a file, so that the path cannot be created. */
export type DiskEntryKind = 'directory' | 'file' | 'missing' | 'below-file' | 'link' | 'other'

export async function lookAt(mount: WorkspaceMount, path: VirtualPath): Promise<DiskEntryKind> {
  if (mount.adapter === undefined) return mount.scratch ? 'directory' : 'missing'
  try {
    const { type } = await mount.adapter.stat(relativeTo(path, mount.at))
    return type === 'symlink' ? 'link' : type
  } catch (error) {
    if (error instanceof LinkSignal) return 'link'
    if (isWorkspaceError(error, 'ENOENT')) return 'missing'
    if (isWorkspaceError(error, 'ENOTDIR')) return 'below-file'
    throw error
  }
}

/** Returns the path of a file that blocks `path`, where a directory should be; `undefined` if the file is gone. */
export async function findHolder(mount: WorkspaceMount, path: VirtualPath): Promise<VirtualPath | undefined> {
  for (let at = parentPath(path); at !== mount.at && at !== '/'; at = parentPath(at)) {
    const found = await lookAt(mount, at)
    if (found === 'file' || found === 'other') return at
    if (found !== 'below-file') return undefined
  }
  return undefined
}

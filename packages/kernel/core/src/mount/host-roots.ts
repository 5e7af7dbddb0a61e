import type { HostDirectory } from '../contract/file-types.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'
import { virtualError } from './errors.ts'
import type { WorkspaceMount } from './mounts.ts'

export async function readHostDirectories(mounts: readonly WorkspaceMount[]): Promise<Map<VirtualPath, HostDirectory>> {
  const found = new Map<VirtualPath, HostDirectory>()
  for (const { at, adapter } of mounts) {
    const directory = await adapter?.hostDirectory?.('/' as MountPath)
    if (directory !== undefined) found.set(at, directory)
  }
  return found
}

/** Refuses a real directory inside another mount's directory: commands could bypass the rules of the inner mount. */
export function refuseNestedRoots(directories: ReadonlyMap<VirtualPath, HostDirectory>): void {
  const entries = [...directories]
  for (const [index, [at, directory]] of entries.entries()) {
    for (const [otherAt, other] of entries.slice(index + 1)) {
      const same = directory.identity === other.identity || directory.path === other.path
      if (!same && !contains(directory, other) && !contains(other, directory)) continue // @defence `if (…)) ` two mounts on one directory
      throw virtualError({
        code: 'EINVAL',
        operation: 'createWorkspace',
        path: otherAt,
        reason: `and \`${at}\` are ${same ? 'one directory' : 'directories of which one contains the other'} on this machine`,
        remedy: 'mount directories that lie beside one another, or only the outer one with rules',
      })
    }
  }
}

/** Refuses the copy of a mount where commands of the workspace itself could reach it, or the other way round. */
export function refuseWithin(
  directories: ReadonlyMap<VirtualPath, HostDirectory>,
  copies: ReadonlyMap<VirtualPath, HostDirectory>,
): void {
  for (const [at, copy] of copies) {
    for (const [outer, directory] of directories) {
      if (copy.identity !== directory.identity && !contains(directory, copy) && !contains(copy, directory)) continue
      throw virtualError({
        code: 'EINVAL',
        operation: 'fork',
        path: at,
        reason: `its copy and \`${outer}\` would lie in one another on this machine`,
        remedy: 'name a `directory` beside every mount',
      })
    }
  }
}

export function contains(outer: HostDirectory, inner: HostDirectory): boolean {
  return inner.ancestors.includes(outer.identity) || inner.path.startsWith(outer.path === '/' ? '/' : `${outer.path}/`)
}

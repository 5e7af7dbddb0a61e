import type { StorageAdapter } from '../adapter/contract.ts'
import { WorkspaceError } from '../errors.ts'
import { isWithin, joinPath, parseVirtualPath, relativeTo } from '../path/virtual-path.ts'
import type { HostPath, MountPath, VirtualPath } from '../path/virtual-path.ts'

/** One line of the mount table. */
export interface Mount {
  readonly at: VirtualPath
  readonly adapter: StorageAdapter
  readonly access: 'read-write' | 'read-only'
}

export interface ResolvedMount {
  readonly mount: Mount
  /** The path inside the mount. */
  readonly path: MountPath
}

/**
 * The mount table: the one map between virtual paths and what lies behind them, in both directions. The longest mount
 * path wins, by whole components.
 */
export class PathMap {
  readonly mounts: readonly Mount[]
  readonly #byDepth: readonly Mount[]

  constructor(mounts: readonly Mount[]) {
    const seen = new Set<string>()
    for (const { at } of mounts) {
      parseVirtualPath(at, { operation: 'mount' })
      if (seen.has(at)) {
        throw new WorkspaceError({
          code: 'EINVAL',
          operation: 'mount',
          path: at,
          reason: 'is mounted twice',
          remedy: 'give each mount a path of its own',
        })
      }
      seen.add(at)
    }
    this.mounts = mounts
    this.#byDepth = [...mounts].sort((left, right) => right.at.length - left.at.length)
  }

  /** The mount that holds `path`, and the path inside it; undefined above all mounts. */
  resolve(path: VirtualPath): ResolvedMount | undefined {
    const mount = this.#byDepth.find(({ at }) => isWithin(path, at))
    return mount === undefined ? undefined : { mount, path: relativeTo(path, mount.at) }
  }

  /** The inverse of {@link resolve}. */
  toVirtual(mount: Mount, path: MountPath): VirtualPath {
    return joinPath(mount.at, path)
  }

  /** Where a path really is on this machine; undefined where its mount has no host directory. */
  toHost(path: VirtualPath): HostPath | undefined {
    const resolved = this.resolve(path)
    return resolved?.mount.adapter.hostPath?.(resolved.path)
  }

  /**
   * The inverse of {@link toHost}: the virtual path under which a host path is seen; undefined for what lies in no mount,
   * or is hidden there by another mount.
   */
  fromHost(path: HostPath): VirtualPath | undefined {
    for (const mount of this.#byDepth) {
      const root = mount.adapter.hostPath?.('/' as MountPath)
      if (root === undefined) continue
      const inside = relativeHost(path, root)
      if (inside === undefined) continue
      const virtual = joinPath(mount.at, inside)
      if (this.resolve(virtual)?.mount === mount) return virtual
    }
    return undefined
  }
}

/** Makes a mount table. @throws WorkspaceError `EINVAL` for a mount path that is used twice or is none. */
export function createPathMap(
  mounts: readonly { at: string; adapter: StorageAdapter; access?: Mount['access'] }[],
): PathMap {
  return new PathMap(
    mounts.map(({ at, adapter, access }) => ({
      at: parseVirtualPath(at, { operation: 'mount' }),
      adapter,
      access: access ?? (adapter.capabilities.readOnly ? 'read-only' : 'read-write'),
    })),
  )
}

function relativeHost(path: string, root: string): MountPath | undefined {
  if (path === root) return '/' as MountPath
  const prefix = root.endsWith('/') ? root : `${root}/`
  return path.startsWith(prefix) ? (`/${path.slice(prefix.length)}` as MountPath) : undefined
}

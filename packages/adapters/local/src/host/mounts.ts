import { HostPaths } from '@ws/sandbox'

import { nativeCode } from '../errors.ts'

export interface HostMount {
  readonly at: string
  readonly type: string
}

export const fuseType = 0x65735546
export const tmpfsType = 0x01021994

/** ext4, xfs, btrfs and tmpfs: every entry adds to its directory's size, and every change sets its times. Overlayfs reports one layer. */
const exactTypes: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, tmpfsType])

export function isExactType(type: number): boolean {
  return exactTypes.has(type)
}
/** Reads the mount table without touching a mount. Empty if the system shows no table. */
export function readMounts(): HostMount[] {
  try {
    return HostPaths.parseMountTable(HostPaths.readMountInfo('self')).map(({ point, fileSystem }) => ({
      at: Buffer.from(point, 'latin1').toString(),
      type: fileSystem,
    }))
  } catch (error) {
    if (nativeCode(error) !== 'ENOENT') throw error // a table that cannot be read does not mean that nothing is mounted
    return []
  }
}

function isBelow(path: string, directory: string): boolean {
  return directory === '/' ? path !== '/' : path.startsWith(`${directory}/`)
}

/** Milliseconds for which a read mount table remains valid. */
const believedMs = 1_000

export class NestedMounts {
  readonly #root: string
  #readAt = Number.NEGATIVE_INFINITY
  #all: readonly string[] = []
  #slow: readonly string[] = []

  constructor(root: string) {
    this.#root = root
  }

  /** Whether a host path is at, below or above a nested mount that may hang. */
  touchesSlow(path: string): boolean {
    try {
      this.#refresh()
    } catch {
      return true // an unknown mount may hang
    }
    return this.#slow.some((mount) => mount === path || isBelow(path, mount) || isBelow(mount, path))
  }

  all(): readonly string[] {
    this.#readAt = Number.NEGATIVE_INFINITY
    this.#refresh()
    return this.#all
  }

  /** The first mount at or below a host path. */
  within(path: string): string | undefined {
    this.#readAt = Number.NEGATIVE_INFINITY
    this.#refresh()
    return this.#all.find((mount) => mount === path || isBelow(mount, path))
  }

  #refresh(): void {
    const now = performance.now()
    if (now - this.#readAt < believedMs) return
    const nested = readMounts().filter(({ at }) => isBelow(at, this.#root))
    this.#readAt = now
    this.#all = nested.map(({ at }) => at)
    this.#slow = nested.filter(({ type }) => HostPaths.isSlowType(type)).map(({ at }) => at)
  }
}

/** The kind of file system of a host path; `""` when unknown. */
export function mountTypeOf(path: string): string {
  let best: HostMount | undefined
  for (const mount of readMounts()) {
    const covers = mount.at === path || isBelow(path, mount.at)
    // of two mounts on one place, the later mount is on top
    if (covers && (best === undefined || mount.at.length >= best.at.length)) best = mount
  }
  return best?.type ?? ''
}

import { readFileSync } from 'node:fs'

export interface HostMount {
  /** Where it is mounted, canonical. */
  readonly at: string
  readonly type: string
}

/** Kinds of file system whose calls may hang for as long as somebody else likes. */
const slowTypes = /^(?:fuse(?:blk)?(?:\..*)?|nfs\d?|cifs|smb3|smbfs|9p|ceph|afs|autofs|glusterfs|virtiofs)$/

/** Kinds of file system where every entry adds to its directory's size. Not overlayfs: it tells that of one layer. */
const sizedTypes: ReadonlySet<string> = new Set(['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'tmpfs'])

export function isSizedType(type: string): boolean {
  return sizedTypes.has(type)
}

/** The `f_type` that statfs(2) gives for FUSE. */
export const fuseType = 0x65735546

export function isSlowType(type: string): boolean {
  return slowTypes.test(type)
}

/** The mount table of this process; empty where the system shows none. Reading it touches no mount. */
export function readMounts(): HostMount[] {
  let table: string
  try {
    table = readFileSync('/proc/self/mountinfo', 'utf8')
  } catch {
    return []
  }
  const mounts: HostMount[] = []
  for (const line of table.split('\n')) {
    const fields = line.split(' ')
    const at = fields[4]
    const type = fields[fields.indexOf('-', 6) + 1]
    if (at !== undefined && type !== undefined) mounts.push({ at: unescapeOctal(at), type })
  }
  return mounts
}

function unescapeOctal(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

function isBelow(path: string, directory: string): boolean {
  return directory === '/' ? path !== '/' : path.startsWith(`${directory}/`)
}

/** Milliseconds for which the mount table is believed. */
const believedMs = 1_000

/** What is mounted below one directory. */
export class NestedMounts {
  readonly #root: string
  #readAt = Number.NEGATIVE_INFINITY
  #all: readonly string[] = []
  #slow: readonly string[] = []

  constructor(root: string) {
    this.#root = root
  }

  /** A path at, below or above a nested mount that may hang. `path` is a host path. */
  touchesSlow(path: string): boolean {
    this.#refresh()
    return this.#slow.some((mount) => mount === path || isBelow(path, mount) || isBelow(mount, path))
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
    this.#readAt = now
    const nested = readMounts().filter(({ at }) => isBelow(at, this.#root))
    this.#all = nested.map(({ at }) => at)
    this.#slow = nested.filter(({ type }) => isSlowType(type)).map(({ at }) => at)
  }
}

/** The kind of file system that a host path lies on; `""` when unknown. */
export function mountTypeOf(path: string): string {
  let best: HostMount | undefined
  for (const mount of readMounts()) {
    const covers = mount.at === path || isBelow(path, mount.at)
    // of two on the same place, the later one is on top
    if (covers && (best === undefined || mount.at.length >= best.at.length)) best = mount
  }
  return best?.type ?? ''
}

import { closeSync, openSync, readSync } from 'node:fs'

/** One line of `/proc/PID/mountinfo`. Paths are bytes as Latin-1, because names need not be UTF-8. */
export interface MountEntry {
  readonly id: string
  readonly parent: string
  readonly device: string
  readonly root: string
  readonly point: string
  readonly readOnly: boolean
  readonly fileSystem: string
  readonly source: string
}

export function parseMountTable(text: string): MountEntry[] {
  const entries: MountEntry[] = []
  for (const line of text.split('\n')) {
    const end = line.indexOf(' - ')
    if (end < 0) continue
    const [id = '', parent = '', device = '', root = '', point, options] = line.slice(0, end).split(' ', 6)
    if (point === undefined || options === undefined) continue
    const [fileSystem = '', source = ''] = line.slice(end + 3).split(' ', 2)
    // `ro` or `rw` is always the first option.
    const readOnly = options === 'ro' || options.startsWith('ro,')
    entries.push({
      id,
      parent,
      device,
      root: unescape(root),
      point: unescape(point),
      readOnly,
      fileSystem,
      source: unescape(source),
    })
  }
  return entries
}

function unescape(path: string): string {
  if (!path.includes('\\')) return path
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}

export interface OwnMounts {
  readonly byId: ReadonlyMap<string, MountEntry>
  /** Returns the mount that contains a path. Of several mounts at one point, the last is visible. */
  of(path: string): MountEntry | undefined
  /** Returns true if the lookup of a path may hang, because a slow mount is on the path. */
  mayBlock(path: string): boolean
}

/** Milliseconds for which the mount table is cached, unless it contradicts the disk. */
const believedMs = 1_000
let last: { readonly mounts: OwnMounts; readonly readAt: number } | undefined

/** Returns the mount table, up to a second old, without accessing a mount. @throws the native error without `/proc` */
export function ownMounts(): OwnMounts {
  const now = performance.now()
  if (last !== undefined && now - last.readAt < believedMs) return last.mounts
  const mounts = indexMounts(parseMountTable(readMountInfo('self')))
  last = { mounts, readAt: now }
  return mounts
}

export function mountOf(path: string): MountEntry | undefined {
  return ownMounts().of(path)
}

/** Drops the cached mount table, because it contradicts the disk. */
export function doubtOwnMounts(): void {
  last = undefined
}

/** Types of file systems whose calls may hang forever. */
const slowTypes = /^(?:fuse(?:blk)?(?:\..*)?|nfs\d?|cifs|smb3|smbfs|9p|ceph|afs|autofs|glusterfs|virtiofs)$/

export function isSlowType(fileSystem: string): boolean {
  return slowTypes.test(fileSystem)
}

function indexMounts(entries: readonly MountEntry[]): OwnMounts {
  const slow = entries.filter(({ fileSystem }) => isSlowType(fileSystem)).map(({ point }) => point)
  return {
    byId: new Map(entries.map((entry) => [entry.id, entry])),
    of(path) {
      const bytes = `${Buffer.from(path).toString('latin1')}/`
      let best: MountEntry | undefined
      for (const entry of entries) {
        if (!bytes.startsWith(entry.point === '/' ? '/' : `${entry.point}/`)) continue
        if (best === undefined || entry.point.length >= best.point.length) best = entry
      }
      return best
    },
    mayBlock(path) {
      if (slow.length === 0) return false
      const bytes = `${Buffer.from(path).toString('latin1')}/`
      return slow.some((point) => bytes.startsWith(point === '/' ? '/' : `${point}/`))
    },
  }
}

let buffer = Buffer.allocUnsafe(16_384)

/** Returns `/proc/PID/mountinfo` as Latin-1. Reuses one buffer. @throws the native error for a missing process */
export function readMountInfo(pid: number | 'self'): string {
  const fd = openSync(`/proc/${pid}/mountinfo`, 'r')
  try {
    let length = 0
    for (;;) {
      if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
      const read = readSync(fd, buffer, length, buffer.length - length, null)
      if (read === 0) return buffer.toString('latin1', 0, length)
      length += read
    }
  } finally {
    closeSync(fd)
  }
}

/** Major, minor, patch. */
export type Version = readonly [number, number, number]

/** The oldest version that this package is tested with. */
export const oldest: Version = [1, 60, 0]

/** Abilities of newer versions. All of them are optional. */
export interface Features {
  /** Files follow a directory that is renamed before their upload. */
  readonly renames: boolean
  /** `vfs/queue` and `vfs/queue-set-expiry`: uploads can start without waiting. */
  readonly queue: boolean
  /** Symbolic links, by `--vfs-links`. In older versions, such links can lead out of the mount (CVE-2026-54572). */
  readonly links: boolean
  /** `directory_markers` of S3: empty directories reach the bucket. */
  readonly directoryMarkers: boolean
}

export function featuresOf(version: Version): Features {
  return {
    renames: isAtLeast(version, [1, 62, 0]),
    queue: isAtLeast(version, [1, 68, 0]),
    links: isAtLeast(version, [1, 74, 4]),
    directoryMarkers: isAtLeast(version, [1, 63, 0]),
  }
}

/** `rclone v1.60.1-DEV` is 1.60.1. */
export function readVersion(said: string): Version | undefined {
  const [, major, minor, patch = '0'] = /^rclone v(\d+)\.(\d+)(?:\.(\d+))?/m.exec(said) ?? []
  if (major === undefined || minor === undefined) return undefined
  return [Number(major), Number(minor), Number(patch)]
}

export function show(version: Version): string {
  return version.join('.')
}

export function isAtLeast(version: Version, least: Version): boolean {
  for (const [index, wanted] of least.entries()) {
    const found = version[index] ?? 0
    if (found !== wanted) return found > wanted
  }
  return true
}

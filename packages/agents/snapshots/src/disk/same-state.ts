import { type Facts, isSameTime } from '@ws/tree/disk'

/** True if a restore has nothing to change. Sizes and link counts of directories depend on the disk. */
export function isSameState(one: Facts, other: Facts): boolean {
  return (
    one.type === other.type &&
    one.content === other.content &&
    one.target === other.target &&
    one.mode === other.mode &&
    one.uid === other.uid &&
    one.gid === other.gid &&
    isSameTime(one.mtime, other.mtime) &&
    (one.links === undefined) === (other.links === undefined) &&
    (one.content !== undefined || one.size === other.size)
  )
}

import type { Places } from './places.ts'
import type { StaleNames } from './stale-names.ts'

/** Notes that rclone moves an object. It moves a directory with all objects there, also those that their files have left. */
export function noteCopied(staleNames: StaleNames, { renames, lost }: Places, from: string, to: string): void {
  const isLeft = staleNames.isStale(from)
  const isSure = renames.earlierDirectories().length === 0
  if (isLeft && !isSure) lost.add(to, true)
  staleNames.noteCopied(from, to, isLeft && isSure)
}

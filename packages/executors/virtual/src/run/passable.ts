import { parentOf } from '@ws/shell-tools/files'
import type { BindPlan } from '@ws/core/executor'

/** Directories above the paths that a command can see. Commands can pass through these directories even if a rule denies them. */
export function passableDirectories({ binds }: BindPlan): ReadonlySet<string> {
  const passable = new Set<string>()
  for (const { at, access } of binds) {
    if (access === 'none') continue
    for (let path: string = at; path !== '/'; path = parentOf(path)) passable.add(parentOf(path))
  }
  return passable
}

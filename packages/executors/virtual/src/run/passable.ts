import { parentOf } from '@ws/shell-tools/files'
import type { BindPlan } from '@ws/core/executor'

/** The directories above what a command may see: where a rule denies them, they can be passed through all the same. */
export function passableDirectories({ binds }: BindPlan): ReadonlySet<string> {
  const passable = new Set<string>()
  for (const { at, access } of binds) {
    if (access === 'none') continue
    for (let path: string = at; path !== '/'; path = parentOf(path)) passable.add(parentOf(path))
  }
  return passable
}

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Workspace } from '@ws/core'
import { ordinaryOwner } from '@ws/test-fixtures'

import { doors } from './site.ts'

/** The workspace of a holder, a program that tests kill: at a door by its name, on a directory. */
export async function openHeld(name: string | undefined, root: string): Promise<Workspace> {
  const door = doors.find((candidate) => candidate.name === name)
  if (door === undefined) throw new Error(`there is no door ${String(name)}`)
  return createWorkspace({
    mounts: [{ at: door.root, adapter: () => createLocalAdapter({ root, owner: ordinaryOwner() }) }],
    executors: [door.create()],
  })
}

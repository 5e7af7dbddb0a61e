import type { CommandLimits } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { createVirtualExecutor } from '@ws/executor-virtual'
import type { ComponentName } from '@ws/test-fixtures'

import { forms } from '../doors/site.ts'

/** A workspace that is used while something runs short. */
export interface ScarceDoor {
  readonly name: string
  readonly components: readonly ComponentName[]
  readonly root: '/' | '/workspace'
  /** Its executor has terminals. */
  readonly terminals: boolean
  /** Absent: the file API alone. */
  readonly create?: (limits?: CommandLimits) => Executor
}

export const scarceDoors: readonly ScarceDoor[] = [
  { name: 'files', components: [], root: '/', terminals: false },
  ...forms.map((door) => ({ ...door, terminals: true, create: (limits?: CommandLimits) => door.create(limits) })),
  {
    name: 'sanitize',
    components: ['perl'],
    root: '/',
    terminals: false,
    create: (limits) => createSanitizeExecutor({ limits }),
  },
  { name: 'virtual', components: [], root: '/', terminals: false, create: () => createVirtualExecutor() },
]

export function doorOf(name: string): ScarceDoor {
  const found = scarceDoors.find((door) => door.name === name)
  if (found === undefined) throw new Error(`there is no door ${name}`)
  return found
}

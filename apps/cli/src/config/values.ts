import { quotePath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { guaranteeFields, isPreset, type GuaranteeLevel, type Requirement, type Guarantees } from '@ws/core/executor'

import { UsageError } from '../errors.ts'
import { executorNames, type ExecutorName } from './executors.ts'

const levels: readonly GuaranteeLevel[] = ['kernel', 'interpreter', 'translated', 'names', 'none']
const largestId = 0xffff_fffe

/** Parses `UID` or `UID:GID`. The default group has the number of the user. */
export function parseOwner(text: string, place: string): Owner {
  const [, uid, gid = uid] = /^(\d{1,10})(?::(\d{1,10}))?$/u.exec(text) ?? []
  const owner = { uid: Number(uid), gid: Number(gid) }
  if (uid === undefined || owner.uid > largestId || owner.gid > largestId) {
    throw new UsageError(`${place}: ${quotePath(text)} is not an owner; give numbers, as in 1000:1000`)
  }
  if (owner.uid === 0) throw new UsageError(`${place}: commands never run as uid 0; give an ordinary user's number`)
  return owner
}

/** Parses a preset such as `untrusted`, or `field=level` pairs with commas. */
export function parseRequirement(texts: readonly string[], place: string): Requirement | undefined {
  if (texts.length === 0) return undefined
  const parts = texts.flatMap((text) => text.split(','))
  const [preset, ...others] = parts
  if (others.length === 0 && isPreset(preset)) return preset
  const requirement: Partial<Record<keyof Guarantees, GuaranteeLevel>> = {}
  for (const part of parts) {
    const [field, level, ...rest] = part.split('=')
    const knownField = guaranteeFields.find((known) => known === field)
    const knownLevel = levels.find((known) => known === level)
    if (knownField === undefined || knownLevel === undefined || rest.length > 0) {
      throw new UsageError(
        `${place}: ${quotePath(part)} is not a requirement; give \`untrusted\`, \`untrusted-by-name\` or FIELD=LEVEL with a field of ` +
          `${guaranteeFields.join(', ')} and a level of ${levels.join(', ')}`,
      )
    }
    requirement[knownField] = knownLevel
  }
  return requirement
}

export function parseExecutorName(text: string, place: string): ExecutorName {
  const known = executorNames.find((name) => name === text)
  if (known !== undefined) return known
  throw new UsageError(`${place}: ${quotePath(text)} is not an executor; choose one of ${executorNames.join(', ')}`)
}

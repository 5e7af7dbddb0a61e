import type { MountPath } from '@ws/core/adapter'

import type { Seen } from '../worker/protocol.ts'
import { pushLog } from './databases.ts'
import { heldBack, orderOf } from './order.ts'
import { hiddenTreeOf } from './paths.ts'
import { pushEntry } from './push.ts'
import { factsToPush, type Held, type Site, type Step, type StepOptions } from './site.ts'
import type { Steps } from './steps.ts'
import { type ReplicaTree, timeOf } from './tree.ts'
import { isHash, wavesOf } from './waves.ts'

export interface SendOptions extends StepOptions {
  /** Entries that may not be pushed yet: the scan that saw them may have missed an earlier change. */
  readonly young: ReadonlySet<MountPath>
}

/** Pushes this machine's changes in an order in which a reader only sees states that programs could have left. */
export async function send(site: Site, steps: Steps, { young, ...options }: SendOptions): Promise<void> {
  const { tree } = site
  const { base, seen, dirty } = tree
  const run = async (path: MountPath): Promise<Step> => {
    const step = factsToPush(site, path, options.held) === undefined ? 'done' : await pushLog(site, path, options)
    return step === 'done' ? pushEntry(site, path, options) : step
  }
  const paths = ([...dirty] as MountPath[]).filter((path) => !tree.isUnknown(path) && !young.has(path))
  const { directories, waves, lateAt, inTheWay, late, gone } = orderOf({
    paths,
    before: (path) => base.get(path)?.type,
    after: (path) => seen.get(path)?.type,
    time: (path) => timeOf(seen.get(path)) ?? 0,
  })
  const others = [...waves.flat(), ...[...young].filter((path) => seen.has(path))]
  const sendLate = async (): Promise<void> => {
    if (steps.isHalted) return
    const isHeld = heldBack(tree, inTheWay, others)
    // an entry that replaces moved bytes is not blocked if those bytes cannot be saved
    const isReplaced = heldBack(
      tree,
      late,
      others.filter((path) => !tree.leftOut.has(path)),
    )
    const isFree = (path: MountPath): boolean =>
      dirty.has(path) && !isHeld(path) && !isReplaced(path) && !steps.isStuck(path)
    await steps.inTurn(inTheWay.filter(isFree), run)
    await steps.inTurn(late.filter(isFree), run)
  }
  await steps.inTurn(directories, run)
  for (const [number, wave] of waves.entries()) {
    if (number === lateAt) await sendLate()
    if (steps.isHalted) return
    await steps.each(
      wave.filter((path) => dirty.has(path) && !steps.isStuck(path)),
      run,
    )
  }
  await sendLate()
  for (const path of heldInOrder(tree, options.held ?? new Map()))
    if (!steps.isHalted && !steps.isStuck(path)) await steps.one(path, () => run(path))
  if (steps.isHalted) return
  const isKept = heldBack(tree, gone.flat(), [...others, ...late])
  // an unsent git pack may be the new home of a deleted object, and an entry too young to send may replace any deleted entry
  const lacking = new Set(paths.filter((path) => seen.has(path) && dirty.has(path) && isHash(path)).map(hiddenTreeOf))
  const waiting = new Set([...young].filter((path) => options.held?.has(path) !== true).map(hiddenTreeOf))
  const isNeeded = (path: MountPath): boolean => {
    const hidden = hiddenTreeOf(path)
    return hidden !== undefined && (waiting.has(hidden) || (isHash(path) && lacking.has(hidden)))
  }
  for (const wave of gone) {
    await steps.each(
      wave.filter((path) => dirty.has(path) && !isKept(path) && !isNeeded(path) && !steps.isStuck(path)), // @defence ` && !isKept(path)` a file that is moved: the old name of a file goes
      run,
    )
    if (steps.isHalted) return
  }
}

/** Held entries, ordered by the time of their change. */
function heldInOrder({ base }: Pick<ReplicaTree, 'base'>, held: ReadonlyMap<MountPath, Held>): readonly MountPath[] {
  const factsOf = (path: string): Seen | undefined => held.get(path as MountPath)?.facts
  const { hashes, others } = wavesOf([...held.keys()], {
    before: (path) => base.get(path)?.type,
    time: (path) => timeOf(factsOf(path)) ?? 0,
  })
  return [...hashes, ...others].flat()
}

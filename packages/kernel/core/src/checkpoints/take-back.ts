import { isWorkspaceError } from '../errors.ts'
import { joinPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { tellWatches, type Context } from '../calls/context.ts'
import type { Gate } from '../mount/gate.ts'
import { gateWithoutAsking } from '../mount/grants.ts'
import type { AttachedCheckpoints, Difference, HeldCheckpoints, SavedPlace } from '../contract/checkpoint-engine.ts'
import type { RestoreResult } from '../contract/checkpoints.ts'
import type { Try } from '../contract/tries.ts'
import { aspectsOf, changesOf } from './changes.ts'
import { recordChanges } from './calls.ts'
import type { CheckpointParts } from './door.ts'
import { latestOf } from './select.ts'
import { Sights } from './visible.ts'

export interface TakeBackOptions {
  readonly held: HeldCheckpoints
  readonly leftOut?: Try<unknown>['leftOut']
  /** Returns whether the change of a path stays. Default: none does. */
  readonly keeps?: ((path: VirtualPath) => boolean) | undefined
}

/** Restores what a try has changed, also where rules deny looking. Work of others after the try stays, and is named in `kept`. */
export async function takeBack(
  context: Context,
  { attached, mounts }: CheckpointParts,
  { held: { since, until }, leftOut = [], keeps = () => false }: TakeBackOptions,
): Promise<RestoreResult> {
  const began = context.clock.begin()
  const sights = new Sights(context, mounts)
  const gate = gateWithoutAsking(context.gate)
  const { now, undo } = await savePresent(attached, since)
  const compared = async (from: string, to: string) =>
    new Map((await attached.compare(from, to, {})).map((difference) => [keyOf(difference), difference]))
  const tried = until === undefined ? undefined : await compared(since, until)
  const later = until === undefined ? undefined : await compared(until, now)
  // the last comparison is the one that the engine restores
  const all = await compared(since, now)
  const kept = new Map<VirtualPath, string>()
  const wanted: Difference[] = []
  for (const [key, difference] of all) {
    const path = sights.pathOf(difference)
    if (tried?.has(key) === false || (path !== undefined && keeps(path))) continue
    const reason = isMore(later?.get(key)) ? 'it was changed after the try' : path && refusal(gate, path, difference)
    if (reason === undefined) wanted.push(difference)
    else kept.set(path ?? context.root, path === undefined ? hidden : reason)
  }
  // from here on, a path that differs from both checkpoints can be one that this restore has half restored
  await attached.hold({ since })
  const conflicts = await attached.restore(since, now, wanted, { discards: true })
  await tellWatches(context.state)
  const left = new Set(conflicts.map(keyOf))
  for (const conflict of conflicts) {
    const path = sights.pathOf(conflict)
    kept.set(path ?? context.root, path === undefined ? hidden : conflict.reason)
  }
  const restored = changesOf(sights.visible(wanted.filter((difference) => !left.has(keyOf(difference)))))
  const done = new Set(wanted.map(({ mount, path }) => joinPath(mounts[mount]?.at ?? context.root, path)))
  for (const { path, reason } of leftOut)
    if (!done.has(path) && !kept.has(path) && !keeps(path)) kept.set(path, `it was not saved: ${reason}`)
  await attached.hold(undefined)
  recordChanges(context, 'restore', restored, began)
  return { restored, kept: [...kept].map(([path, reason]) => ({ path, reason })), undo }
}

const hidden = 'entries that rules deny could not be taken back'

function keyOf({ mount, path }: SavedPlace): string {
  return `${mount} ${path}`
}

/** A directory's time changes with the entries below it. */
function isMore(difference: Difference | undefined): boolean {
  if (difference === undefined) return false
  const { before, after } = difference
  return before === undefined || after === undefined || aspectsOf(before, after).length > 0
}

function refusal(gate: Gate, path: VirtualPath, { before }: Difference): string | undefined {
  const decision = gate.decide({ operation: 'write', path, need: 'write', size: before?.size })
  return decision.effect === 'allow' ? undefined : decision.reason
}

/** Without room for bytes, saves the states alone: taking back is what makes room. */
async function savePresent(
  attached: AttachedCheckpoints,
  since: string,
): Promise<{ readonly now: string; readonly undo: string | undefined }> {
  const options = { automatic: true, label: 'before taking back a try', keep: since }
  let isWhole = true
  const saved = await attached.save(options).catch((error: unknown) => {
    if (!isWorkspaceError(error, 'EDQUOT') && !isWorkspaceError(error, 'ENOSPC')) throw error
    isWhole = false
    return attached.save({ ...options, withoutBytes: true })
  })
  const now = saved?.checkpoint.id ?? latestOf(await attached.list()).id
  return { now, undo: isWhole ? now : undefined }
}

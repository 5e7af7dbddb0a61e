import { isWithin, joinPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { closedError, type Context, perform } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import type { ForkDifference } from '../contract/checkpoint-engine.ts'
import type { MergeOptions, MergeResult } from '../contract/forks.ts'
import { virtualError } from '../mount/errors.ts'
import { parsePaths, recordChanges, translated } from './calls.ts'
import { changesOf } from './changes.ts'
import type { CheckpointParts } from './door.ts'
import { isOneOf, unitsOf } from './kept-paths.ts'
import { withoutEngine } from './select.ts'
import { refuseBusy } from './busy.ts'
import { Sights } from './visible.ts'
import type { VisibleDifference } from './visible.ts'

/** The parts of a workspace that a merge needs. */
export interface MergeSide {
  readonly context: Context
  readonly parts: CheckpointParts | undefined
  /** The ids of running commands and sessions. */
  readonly busy: () => readonly string[]
}

type Change = VisibleDifference & Pick<ForkDifference, 'ours'>
type Left = Map<VirtualPath, string>

/** @param fork `undefined` for a workspace of another class */
export async function merge(
  side: MergeSide,
  fork: MergeSide | undefined,
  options: MergeOptions = {},
): Promise<MergeResult> {
  checkMethod('merge', 'merge', options)
  const { context } = side
  const { paths, dryRun = false, signal } = options
  const began = context.clock.begin()
  const result = await perform(
    context,
    { operation: 'merge', path: paths?.[0] ?? context.root, signal },
    async (): Promise<MergeResult> => {
      const { parts, theirs } = admitted(side, fork)
      const parsed = paths && parsePaths(context, 'merge', paths)
      return translated(context, 'merge', signal, async () => {
        if (dryRun) return shown(divide(context, await changesIn(side, theirs, undefined, options), parsed))
        refuseBusy('merge', [...side.busy(), ...theirs.side.busy()])
        const { forkedFrom: keep } = theirs.parts.attached
        const saved = await parts.attached.save({ label: 'before merging a fork', keep, signal })
        if (saved === undefined) throw new Error('only automatic checkpoints may be left out')
        const undo = saved.checkpoint.id
        const divided = divide(context, await changesIn(side, theirs, undo, options), parsed)
        const left = await parts.attached.merge(theirs.parts.attached, undo, divided.merged)
        const conflicts = new Map(divided.conflicts)
        for (const { mount, path, reason } of left)
          conflicts.set(joinPath(parts.mounts[mount]?.at ?? context.root, path), reason)
        return { ...shown({ ...divided, conflicts }), undo }
      })
    },
  )
  if (!dryRun) recordChanges(context, 'merge', result.merged, began)
  return result
}

interface Theirs {
  readonly side: MergeSide
  readonly parts: CheckpointParts
}

function admitted(
  { context, parts }: MergeSide,
  fork: MergeSide | undefined,
): { readonly parts: CheckpointParts; readonly theirs: Theirs } {
  if (parts === undefined) throw withoutEngine('merge')
  if (fork?.parts?.attached.forkedFrom === undefined || fork.context.state === context.state)
    throw virtualError({
      code: 'EINVAL',
      operation: 'merge',
      reason: 'the other workspace is not a fork of this one',
      remedy: 'pass the result of `fork()` of this workspace',
    })
  if (fork.context.state.isClosed) throw closedError('merge')
  return { parts, theirs: { side: fork, parts: fork.parts } }
}

/** The changes of a fork that the rules of both workspaces let callers see. */
async function changesIn(
  { context, parts }: MergeSide,
  theirs: Theirs,
  until: string | undefined,
  { signal }: MergeOptions,
): Promise<readonly Change[]> {
  if (parts === undefined) return []
  const found = await parts.attached.compareFork(theirs.parts.attached, until, { signal })
  const [sights, forks] = [new Sights(context, parts.mounts), new Sights(theirs.side.context, theirs.parts.mounts)]
  return found.flatMap((difference) => {
    const virtual = sights.pathOf(difference)
    return virtual === undefined || forks.pathOf(difference) !== virtual ? [] : [{ ...difference, virtual }]
  })
}

interface Divided {
  readonly merged: readonly Change[]
  readonly conflicts: Left
  readonly kept: Left
}

/** Separates the changes to merge. A move, or the hard links of a file, are merged as a whole or not at all. */
function divide(context: Context, found: readonly Change[], paths: readonly VirtualPath[] | undefined): Divided {
  const changes = changesOf(found)
  const units = unitsOf(changes, found)
  const isChosen = paths === undefined ? () => true : isOneOf(paths, changes, found, 'merge')
  const chosen = found.filter(({ virtual, ours }) => ours !== 'same' && isChosen(virtual))
  const conflicts: Left = new Map()
  const kept: Left = new Map()
  for (const { virtual: path, after, ours } of chosen) {
    const decision = context.gate.decide({ operation: 'write', path, need: 'write', size: after?.size })
    if (decision.effect !== 'allow') kept.set(path, decision.reason)
    else if (ours === 'changed') conflicts.set(path, 'it was changed here too')
    else if (after?.type === 'file' && after.content === undefined) kept.set(path, 'its bytes were not saved')
  }
  for (let count = -1; count !== conflicts.size + kept.size; ) {
    count = conflicts.size + kept.size
    for (const names of units) {
      const isPart = (path: VirtualPath): boolean => names.some((name) => isWithin(path, name))
      const [left] = [...conflicts.keys(), ...kept.keys()].filter(isPart)
      if (left === undefined) continue
      const [all, how] = conflicts.has(left) ? [conflicts, 'in conflict'] : [kept, 'not merged']
      for (const { virtual: path } of chosen)
        if (isPart(path) && !conflicts.has(path) && !kept.has(path))
          all.set(path, `it is one change with \`${left}\`, which is ${how}`)
    }
  }
  return { merged: chosen.filter(({ virtual }) => !conflicts.has(virtual) && !kept.has(virtual)), conflicts, kept }
}

function shown({ merged, conflicts, kept }: Divided): MergeResult {
  const named = (left: Left) => [...left].map(([path, reason]) => ({ path, reason }))
  const done = merged.filter(({ virtual }) => !conflicts.has(virtual))
  return { merged: changesOf(done), conflicts: named(conflicts), kept: named(kept) }
}

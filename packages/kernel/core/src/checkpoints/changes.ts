import { isWithin, parentPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { EntryState } from '../contract/checkpoint-engine.ts'
import type { Change } from '../contract/checkpoints.ts'
import type { VisibleDifference } from './visible.ts'

type Aspects = NonNullable<Change['what']>

/** Returns the aspects that differ, except times. */
export function aspectsOf(before: EntryState, after: EntryState): Aspects {
  if (before.type !== after.type) return ['type']
  const what: Aspects[number][] = []
  if (before.type === 'file' && !isSameContent(before, after)) what.push('content')
  if (before.target !== after.target) what.push('target')
  if (before.mode !== after.mode) what.push('mode')
  return what
}

/** Compares contents. For files whose bytes were not saved, compares size and time instead. */
function isSameContent(before: EntryState, after: EntryState): boolean {
  if (before.content !== undefined) return before.content === after.content
  return after.content === undefined && before.size === after.size && before.modifiedAt === after.modifiedAt
}

/** Returns differences for people and models, sorted by path. A move is one change. Omits entries whose time alone changed. */
export function changesOf(differences: readonly VisibleDifference[]): Change[] {
  const { movedTo, movedFrom } = findMoves(differences)
  const changes: Change[] = []
  for (const difference of differences) {
    const { virtual: path, before, after } = difference
    if (movedFrom.has(path)) continue
    const source = movedTo.get(path)
    if (source !== undefined && after !== undefined) {
      const what = source.before === undefined ? [] : aspectsOf(source.before, after)
      const above = movedTo.get(parentPath(path))
      const follows = above !== undefined && `${above.virtual}${path.slice(parentPath(path).length)}` === source.virtual
      if (follows && what.length === 0) continue
      const moved = { path, kind: 'moved', type: after.type, from: source.virtual } as const
      changes.push({ ...moved, ...(what.length > 0 && { what }), ...bytesOf(source.before, after, { isMoved: true }) })
    } else if (before === undefined) {
      if (after !== undefined) changes.push({ path, kind: 'created', type: after.type, ...bytesOf(before, after) })
    } else if (after === undefined) {
      changes.push({ path, kind: 'deleted', type: before.type, ...bytesOf(before, after) })
    } else {
      const what = aspectsOf(before, after)
      if (what.length > 0) changes.push({ path, kind: 'changed', type: after.type, what, ...bytesOf(before, after) })
    }
  }
  return changes.sort(byPath)
}

function bytesOf(
  before: EntryState | undefined,
  after: EntryState | undefined,
  { isMoved = false } = {},
): Pick<Change, 'sizeBefore' | 'sizeAfter' | 'unsaved'> {
  const isUnsaved = before?.type === 'file' && before.content === undefined
  const isThere = after?.type === 'file' && !isMoved
  return {
    ...(before?.type === 'file' && { sizeBefore: before.size }),
    ...(after?.type === 'file' && { sizeAfter: after.size }),
    ...(isUnsaved && !(isThere && isSameContent(before, after)) && { unsaved: true }),
  }
}

interface Moves {
  readonly movedTo: ReadonlyMap<VirtualPath, VisibleDifference>
  readonly movedFrom: ReadonlySet<VirtualPath>
}

function findMoves(differences: readonly VisibleDifference[]): Moves {
  const gone = new Map<string, VisibleDifference>()
  for (const difference of differences) {
    const { before, after, mount } = difference
    if (before?.identity !== undefined && after === undefined) gone.set(`${mount} ${before.identity}`, difference)
  }
  const movedTo = new Map<VirtualPath, VisibleDifference>()
  const movedFrom = new Set<VirtualPath>()
  for (const { virtual, before, after, mount } of differences) {
    if (before !== undefined || after?.identity === undefined) continue
    const source = gone.get(`${mount} ${after.identity}`)
    if (source === undefined || source.before?.type !== after.type || movedFrom.has(source.virtual)) continue
    movedTo.set(virtual, source)
    movedFrom.add(source.virtual)
  }
  return { movedTo, movedFrom }
}

/** Paths in the order of a listing: a directory before its entries. */
function byPath({ path: left }: Change, { path: right }: Change): number {
  if (left === right) return 0
  if (isWithin(right, left)) return -1
  if (isWithin(left, right)) return 1
  return left < right ? -1 : 1
}

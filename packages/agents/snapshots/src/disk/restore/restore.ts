import { chmodSync, fstatSync, lstatSync } from 'node:fs'
import { basename, dirname } from 'node:path/posix'

import { Acts, Failure, isSameTime, mark, nativeCode, nativeFailure, pathOf, selfOf, Unexpected } from '@ws/tree/disk'
import type { Database, Facts, Place } from '@ws/tree/disk'

import { isSameState } from '../same-state.ts'
import type { Pair, Tree } from '../tree.ts'
import { depthOf, type Plan, planOf } from './plan.ts'

const mostNamed = 1_000

export interface Conflict {
  readonly path: string
  readonly reason: string
}

export interface RestoreOptions {
  /** The wanted states as `before`, with their attributes, and the states of the last scan as `after`. */
  readonly pairs: readonly Pair[]
  /** For groups of hard links: the path of an entry that stays, to link the others to. */
  readonly anchors: Map<string, string>
  /** The turn at which unchanged directories had the times that they keep. Default: they get the time of the change. */
  readonly timesAt?: number | undefined
  readonly discards: boolean
  /** From removed paths to the paths that get their entries. An entry is removed only after the other is there. Default: none. */
  readonly moves?: ReadonlyMap<string, string> | undefined
}

/** Restores paths unchanged since the last scan. Each file is old or new at every moment, also after a kill. */
export function restore(
  tree: Tree,
  database: Database,
  { since, pairs, discards }: { readonly since: number; readonly pairs: readonly Pair[]; readonly discards: boolean },
): Conflict[] {
  const wanted = pairs.map(({ before, ...pair }) => {
    return { ...pair, before: before && { ...before, attributes: tree.attributes.at(since, pair.path) } }
  })
  return apply(tree, database, { pairs: wanted, anchors: findAnchors(tree, since, pairs), timesAt: since, discards })
}

export function apply(tree: Tree, database: Database, options: RestoreOptions): Conflict[] {
  return new Restore(tree, database, options.timesAt).run(options)
}

/** Restores the mode of directories that a killed restore had made writable. */
export function tightenAgain({ id, root }: Tree, database: Database): void {
  const rows = database.all<{ path: string; mode: number }>('SELECT path, mode FROM loosened WHERE tree = ?', id)
  for (const { path, mode } of rows.sort((left, right) => depthOf(right.path) - depthOf(left.path))) {
    const fd = root.directory(path)
    if (fd !== undefined) chmodSync(selfOf(fd), mode)
    database.run('DELETE FROM loosened WHERE tree = ? AND path = ?', id, path)
  }
  root.forget()
}

class Restore {
  readonly #tree: Tree
  readonly #database: Database
  readonly #timesAt: number | undefined
  readonly #conflicts = new Map<string, string>()
  readonly #completed: string[] = []
  readonly #made = new Map<string, string>()
  /** Times that this restore gave to inodes. Other links of an inode show its time too. */
  readonly #times = new Map<string, number>()
  #at = ''

  constructor(tree: Tree, database: Database, timesAt: number | undefined) {
    this.#tree = tree
    this.#database = database
    this.#timesAt = timesAt
  }

  run({ pairs, anchors, discards, moves }: RestoreOptions): Conflict[] {
    const plan = planOf(pairs, discards)
    for (const { path, reason } of plan.unsaved) this.#conflicts.set(path, reason)
    // read all content first: damaged bytes must not be found in the middle of a restore
    for (const content of plan.contents) this.#tree.read(content) // @defence saved bytes that were damaged: with damaged bytes changes
    const source = (path: string, facts: Facts): Uint8Array | Place | undefined => {
      if (facts.type !== 'file') return undefined
      const anchor = facts.links === undefined ? undefined : anchors.get(facts.links)
      if (anchor !== undefined && anchor !== path) return this.#place(anchor)
      if (facts.links !== undefined) anchors.set(facts.links, path)
      return this.#tree.read(facts.content ?? '')
    }
    try {
      const { early, late } = removals(plan, moves)
      this.#remove(early)
      for (const { path, before } of plan.created) {
        this.#attempt(path, (place) => {
          if (before.type === 'directory') this.#made.set(path, Acts.makeDirectory(place, before))
          else Acts.create(place, before, source(path, before))
        })
      }
      for (const { path, before, after, anew } of plan.changed) {
        this.#attempt(path, (place) => {
          // creating or removing a link changes the inode's ctime
          const mtime = this.#times.get(after.ino) ?? after.mtime
          const seen = { ...after, links: after.links ?? before.links, mtime }
          if (anew) Acts.replace(place, before, seen, source(path, before))
          else this.#mark(place, before, seen)
        })
      }
      this.#remove(late, moves)
      // last, since creating and removing entries changes a directory's time
      for (const { path, before, after } of plan.directories)
        this.#attempt(path, (place) => this.#finish(place, path, before, after), { isNew: after === undefined })
      this.#keepTimes(plan)
      return [...this.#conflicts].map(([path, reason]) => ({ path, reason }))
    } catch (error) {
      throw this.#partial(error, pairs.length)
    } finally {
      tightenAgain(this.#tree, this.#database)
    }
  }

  #remove(removed: Plan['removed'], moves?: RestoreOptions['moves']): void {
    for (const { path, after } of removed) {
      this.#attempt(path, (place) => {
        if (this.#conflicts.has(moves?.get(path) ?? '')) throw new Unexpected('it could not be moved')
        if (after.type === 'directory') Acts.removeDirectory(place, after)
        else Acts.removeFile(place, after)
      })
    }
  }

  #finish(place: Place, path: string, before: Facts, after: Facts | undefined): void {
    const made = this.#made.get(path)
    if (after !== undefined) mark(place, before, after)
    else if (made !== undefined) mark(place, before, { ino: made })
  }

  /** An unchanged directory keeps its time, though entries in it were replaced. */
  #keepTimes({ directories, ...acts }: Plan): void {
    if (this.#timesAt === undefined) return
    const marked = new Set(directories.map(({ path }) => path))
    const touched = [...acts.removed, ...acts.created, ...acts.changed].map(({ path }) => dirname(path))
    for (const path of new Set(touched)) {
      const now = this.#tree.live.get(path)
      const then = this.#tree.at(this.#timesAt, path)
      if (marked.has(path) || now === undefined || then === undefined || !isSameState(now, then)) continue
      this.#attempt(path, (place) => mark(place, now, now), { isNew: true })
    }
  }

  #mark(place: Place, before: Facts, after: Facts): void {
    Acts.assertAsSeen(place, after)
    mark(place, before, after)
    const { mtimeMs } = lstatSync(pathOf(place))
    if (isSameTime(mtimeMs, before.mtime)) this.#times.set(after.ino, mtimeMs)
  }

  #attempt(path: string, act: (place: Place) => void, { isNew = false } = {}): void {
    if (this.#conflicts.has(path)) return
    this.#at = path
    try {
      const place = this.#place(path)
      if (place === undefined) throw new Unexpected('its directory is not there')
      act(place)
      if (!isNew) this.#completed.push(path)
    } catch (error) {
      if (error instanceof Unexpected) this.#conflicts.set(path, error.reason)
      else if (nativeCode(error) === 'ENOENT') this.#conflicts.set(path, 'it was removed meanwhile')
      else if (nativeCode(error) === 'EACCES' || nativeCode(error) === 'EPERM')
        this.#conflicts.set(path, 'the permissions of the disk do not allow it')
      else throw error
    }
  }

  #place(path: string): Place | undefined {
    if (path === '/') return { parent: this.#tree.root.fd, name: '.' }
    const above = dirname(path)
    const parent = this.#tree.root.directory(above)
    if (parent === undefined) return undefined
    this.#loosen(above, parent)
    return { parent, name: basename(path) }
  }

  /** Makes a directory of this user writable for the owner. The journal notes it first. */
  #loosen(path: string, fd: number): void {
    const { mode, uid } = fstatSync(fd)
    if ((mode & 0o300) === 0o300 || uid === 0 || uid !== process.getuid?.()) return
    this.#database.run('INSERT OR IGNORE INTO loosened VALUES (?, ?, ?)', this.#tree.id, path, mode & 0o7777)
    chmodSync(selfOf(fd), (mode & 0o7777) | 0o700)
  }

  #partial(error: unknown, all: number): Error {
    const failure = nativeFailure(error)
    if (this.#completed.length === 0) return failure
    const { code, reason, remedy, native } = failure
    const completedCount = this.#completed.length
    return new Failure({
      code,
      reason,
      remedy,
      partial: {
        completed: this.#completed.slice(0, mostNamed),
        completedCount,
        failedAt: this.#at,
        state: `${completedCount} of ${all} paths are restored, each of the others is as it was; restore again to go on`,
      },
      native,
    })
  }
}

/** Divides removals: with moves, an entry that does not make way for a new one is removed late. */
function removals(
  { removed, created }: Plan,
  moves: RestoreOptions['moves'],
): { readonly early: Plan['removed']; readonly late: Plan['removed'] } {
  if (moves === undefined) return { early: removed, late: [] }
  const made = new Set(created.map(({ path }) => path))
  const makesWay = (path: string): boolean => made.has(path) || (path !== '/' && makesWay(dirname(path)))
  return {
    early: removed.filter(({ path }) => makesWay(path)),
    late: removed.filter(({ path }) => !makesWay(path)),
  }
}

/** Finds an unchanged entry for each restored group of hard links, to link the others to. Otherwise, the first restored entry is new. */
function findAnchors(tree: Tree, since: number, pairs: readonly Pair[]): Map<string, string> {
  const anchors = new Map<string, string>()
  const groups = new Set(pairs.flatMap(({ before }) => before?.links ?? []))
  for (const links of groups) {
    for (const { path, content } of tree.linksAt(since, links)) {
      const now = tree.live.get(path)
      if (now?.ino !== links || now.content !== content) continue
      anchors.set(links, path)
      break
    }
  }
  return anchors
}

import type { Stats } from 'node:fs'

import { Ahead, Content, contentOf, entryColumns, factsOfRow, isCovered, Root, scan, valuesOf } from '@ws/tree/disk'
import type { Database, EntryRow, Facts, ScanResult } from '@ws/tree/disk'

import { placeOf, readSaved } from '../store/contents.ts'
import { lasting } from '../store/open-index.ts'
import type { Packs } from '../store/packs.ts'
import { tooMuch } from '../too-much.ts'
import { Attributes } from './attributes.ts'
import { isSameState } from './same-state.ts'

export interface Limits {
  readonly maxBytes: number
  readonly maxFileBytes: number
}

export interface Pair {
  readonly path: string
  readonly before: Facts | undefined
  readonly after: Facts | undefined
}

/** `turn` is the number of scans that found a change. A state is valid from its first to its last turn, so a checkpoint is a turn. */
export class Tree {
  readonly id: number
  readonly root: Root
  readonly attributes: Attributes
  readonly #database: Database
  readonly #packs: Packs
  readonly #ahead = new Ahead()
  /** For the first scan of a copy: returns the content of a file, if its status shows that it still is as in the origin. */
  contentOfCopy: ((path: string, status: Stats) => string | undefined) | undefined
  #turn: number
  #live: Map<string, Facts> | undefined

  constructor(database: Database, packs: Packs, { key, path }: { readonly key: string; readonly path: string }) {
    this.#database = database
    this.#packs = packs
    this.root = new Root(path)
    database.run('INSERT OR IGNORE INTO trees (key, turn) VALUES (?, 0)', key)
    const row = database.get<{ id: number; turn: number }>('SELECT id, turn FROM trees WHERE key = ?', key)
    this.id = row?.id ?? 0
    this.attributes = new Attributes(this.id, database)
    this.#turn = row?.turn ?? 0
  }

  get turn(): number {
    return this.#turn
  }

  get live(): Map<string, Facts> {
    if (this.#live === undefined) {
      const rows = this.#database.all<EntryRow>('SELECT * FROM entries WHERE tree = ? AND last = ?', this.id, lasting)
      this.#live = new Map(rows.map((row) => [row.path, factsOfRow(row)]))
    }
    return this.#live
  }

  scan(options: Pick<Parameters<typeof scan>[0], 'maxFileBytes' | 'reserved'>, room: number): ScanResult['leftOut'] {
    const { live } = this
    const added = new Set<string>()
    const mark = this.#packs.mark()
    const save = (bytes: Uint8Array): string => {
      const content = contentOf(bytes)
      if (added.has(content) || placeOf(this.#database, content) !== undefined) return content
      added.add(content)
      this.#packs.add(content, bytes)
      if (this.#packs.size - mark.size > room) throw tooMuch()
      return content
    }
    const take = (place: string, seen: Stats, path: string): Content.Digest | undefined => {
      const content = this.contentOfCopy?.(path, seen)
      if (content !== undefined) return { content, status: seen, torn: false }
      const found = Content.readContent(place, seen, { maxBytes: options.maxFileBytes })
      return found && { content: save(found.bytes), status: found.status, torn: found.torn }
    }
    try {
      const { turn, changed, gone, leftOut } = this.#database.transaction(() => {
        const result = scan({ ...options, root: this.root, known: live, take, ahead: this.#ahead })
        const noted = this.#note(result)
        this.#packs.flush()
        if (this.#packs.size - mark.size > room) throw tooMuch()
        const leftOut = [...result.leftOut, ...this.attributes.note(this.root, result.changed, live)]
        return { ...result, leftOut, turn: noted }
      })
      this.#turn = turn
      this.contentOfCopy = undefined
      for (const path of gone) live.delete(path)
      for (const [path, facts] of changed) live.set(path, facts)
      return leftOut
    } catch (error) {
      this.#packs.rollBack(mark)
      throw error
    }
  }

  /** @throws WorkspaceError `EIO` for damaged or missing bytes */
  read(content: string): Uint8Array {
    return readSaved(this.#database, this.#packs, content)
  }

  at(turn: number, path: string): Facts | undefined {
    const row = this.#database.get<EntryRow>(
      'SELECT * FROM entries WHERE tree = ? AND path = ? AND first <= ? AND last > ?',
      ...[this.id, path, turn, turn],
    )
    return row === undefined ? undefined : factsOfRow(row)
  }

  linksAt(turn: number, links: string): { readonly path: string; readonly content: string | null }[] {
    return this.#database.all(
      'SELECT path, content FROM entries WHERE tree = ? AND links = ? AND first <= ? AND last > ? ORDER BY path',
      ...[this.id, links, turn, turn],
    )
  }

  /** The paths that differ between two turns, the earlier turn first. Paths that are unknown at either turn are left out. */
  compare(since: number, until: number): Pair[] {
    const before = this.#database.all<EntryRow>(
      'SELECT * FROM entries WHERE tree = ? AND last > ? AND last <= ? AND first <= ?',
      ...[this.id, since, until, since],
    )
    const after = this.#database.all<EntryRow>(
      'SELECT * FROM entries WHERE tree = ? AND first > ? AND first <= ? AND last > ?',
      ...[this.id, since, until, until],
    )
    const pairs = new Map<string, Pair>()
    for (const row of before) pairs.set(row.path, { path: row.path, before: factsOfRow(row), after: undefined })
    for (const row of after) {
      const known = pairs.get(row.path)
      pairs.set(row.path, { path: row.path, before: known?.before, after: factsOfRow(row) })
    }
    const unknown = [this.#unknownAt(since), this.#unknownAt(until)]
    return [...pairs.values()].filter(
      ({ path, before: old, after: now }) =>
        (old === undefined || now === undefined || !isSameState(old, now)) &&
        !unknown.some((covers) => isCovered(covers, path)),
    )
  }

  #unknownAt(turn: number): ReadonlySet<string> {
    const sql = 'SELECT path FROM unknown WHERE tree = ? AND first <= ? AND last > ?'
    return new Set(this.#database.all<{ path: string }>(sql, this.id, turn, turn).map(({ path }) => path))
  }

  close(): void {
    this.#ahead.close()
    this.root.close()
  }

  #note({ changed, gone, unknown }: ScanResult): number {
    const turn = this.#turn + 1
    let moved = false
    const end = (path: string): void => {
      moved = true
      this.#database.run(
        'UPDATE entries SET last = ? WHERE tree = ? AND path = ? AND last = ?',
        ...[turn, this.id, path, lasting],
      )
    }
    for (const path of gone) end(path)
    const before = this.#unknownAt(this.#turn)
    const now = new Set(unknown)
    for (const path of before) {
      if (now.has(path)) continue
      moved = true
      const values = [turn, this.id, path, lasting]
      this.#database.run('UPDATE unknown SET last = ? WHERE tree = ? AND path = ? AND last = ?', ...values)
    }
    for (const path of now) {
      if (before.has(path)) continue
      moved = true
      this.#database.run('INSERT INTO unknown VALUES (?, ?, ?, ?)', this.id, path, turn, lasting)
    }
    for (const [path, facts] of changed) {
      const known = this.live.get(path)
      if (known !== undefined && isSameState(known, facts)) {
        this.#refresh(path, facts)
        continue
      }
      if (known !== undefined) end(path)
      moved = true
      this.#database.run(
        `INSERT INTO entries (tree, path, first, last, ${entryColumns}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
        ...[this.id, path, turn, lasting, ...valuesOf(facts)],
      )
    }
    if (!moved) return this.#turn
    this.#database.run('UPDATE trees SET turn = ? WHERE id = ?', turn, this.id)
    return turn
  }

  #refresh(path: string, { ino, ctime, birth, mtime, links, unsettled }: Facts): void {
    this.#database.run(
      'UPDATE entries SET ino = ?, ctime = ?, birth = ?, mtime = ?, links = ?, unsettled = ? WHERE tree = ? AND path = ? AND last = ?',
      ...[ino, ctime, birth, mtime, links ?? null, unsettled ? 1 : 0, this.id, path, lasting],
    )
  }
}

/** True for a change of a directory's time only. Sandboxes cause such changes when they make and remove mount points. */
export function isTimeOfDirectory({ before, after }: Pair): boolean {
  if (before?.type !== 'directory' || after === undefined) return false
  return isSameState(before, { ...after, mtime: before.mtime })
}

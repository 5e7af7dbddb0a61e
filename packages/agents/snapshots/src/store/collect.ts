import type { Database } from '@ws/tree/disk'

import { lasting } from './open-index.ts'
import type { Packs, ContentLocation } from './packs.ts'

const mostWaste = 0.5

export interface CollectOptions {
  readonly maxBytes: number
  readonly maxAge: number
  readonly used: readonly number[]
  /** The id of a checkpoint that is never deleted. */
  readonly keep?: string | undefined
}

/** Deletes checkpoints above the limits, but never the latest of a tree in use. A kill leaves only unused bytes. */
export function collect(database: Database, packs: Packs, { maxBytes, maxAge, used, keep = '' }: CollectOptions): void {
  const isUsed = `IN (${used.join(', ')})`
  const unheld = 'id NOT IN (SELECT since FROM holds UNION SELECT until FROM holds UNION SELECT since FROM forks)'
  const latest = 'SELECT max(created) FROM checkpoints AS other WHERE other.tree = checkpoints.tree'
  const outdated = `id <> ? AND ${unheld} AND created < ? AND (created < (${latest}) OR tree NOT ${isUsed})`
  database.run(`DELETE FROM checkpoints WHERE ${outdated}`, keep, Date.now() - maxAge)
  for (const states of ['entries', 'unknown'])
    database.run(
      `DELETE FROM ${states} WHERE tree NOT ${isUsed} AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE checkpoints.tree = ${states}.tree)`,
    )
  sweep(database, packs)
  while (packs.size > maxBytes * 0.75) {
    const before = database.get<{ count: number }>('SELECT count(*) AS count FROM checkpoints')?.count ?? 0
    // a quarter at a time, so that a full store is not searched again for each checkpoint
    const oldest = `SELECT id FROM checkpoints WHERE id <> ? AND ${unheld} AND created < (${latest}) GROUP BY id ORDER BY min(created) LIMIT ?`
    database.run(`DELETE FROM checkpoints WHERE id IN (${oldest})`, keep, Math.max(1, Math.floor(before / 4)))
    const after = database.get<{ count: number }>('SELECT count(*) AS count FROM checkpoints')?.count ?? 0
    if (after === before) return
    sweep(database, packs)
  }
}

export function neededBytes(database: Database): number {
  const row = database.get<{ bytes: number | null }>(
    `SELECT sum(length) AS bytes FROM (SELECT DISTINCT pack, block, length FROM contents WHERE content IN (
       SELECT content FROM entries WHERE last = ${lasting}
       UNION SELECT content FROM kept WHERE turn = ${lasting} OR turn = (SELECT turn FROM trees WHERE id = kept.tree)))`,
  )
  return row?.bytes ?? 0
}

function sweep(database: Database, packs: Packs): void {
  database.transaction(() => {
    for (const states of ['entries', 'unknown'])
      database.run(
        `DELETE FROM ${states} WHERE last <> ${lasting} AND NOT EXISTS (
          SELECT 1 FROM checkpoints WHERE checkpoints.tree = ${states}.tree AND turn >= first AND turn < last)`,
      )
    database.run(
      `DELETE FROM kept WHERE NOT EXISTS (
        SELECT 1 FROM checkpoints WHERE checkpoints.tree = kept.tree AND checkpoints.turn <= kept.turn)`,
    )
    database.run(
      `DELETE FROM contents WHERE content NOT IN (SELECT content FROM entries WHERE content IS NOT NULL
        UNION SELECT content FROM kept WHERE content IS NOT NULL)`,
    )
  })
  const used = new Map<number, number>()
  for (const { pack, bytes } of database.all<{ pack: number; bytes: number }>(
    'SELECT pack, sum(length) AS bytes FROM (SELECT DISTINCT pack, block, length FROM contents) GROUP BY pack',
  ))
    used.set(pack, bytes)
  for (const number of packs.numbers()) {
    const size = packs.sizeOf(number)
    const bytes = used.get(number) ?? 0
    if (bytes > 0 && isWorthKeeping(database, number, bytes, size)) continue
    if (bytes > 0) moveContents(database, packs, number)
    packs.remove(number)
  }
}

/** True if a pack holds little waste. A block is kept whole while any content in the block is needed. */
function isWorthKeeping(database: Database, pack: number, bytes: number, size: number): boolean {
  if (bytes < size * (1 - mostWaste)) return false
  const row = database.get<{ needed: number; all: number }>(
    `SELECT sum(size) AS needed, (SELECT sum(whole) FROM (
       SELECT max(start + size) AS whole FROM contents WHERE pack = ? GROUP BY block)) AS "all" FROM contents WHERE pack = ?`,
    ...[pack, pack],
  )
  return row === undefined || row.all === null || row.needed >= row.all * (1 - mostWaste)
}

/** Moves needed contents of a pack to another pack. The index is updated before the old pack is removed. */
function moveContents(database: Database, packs: Packs, number: number): void {
  packs.close()
  packs.avoid(number)
  const rows = database.all<ContentLocation & { readonly content: string }>(
    'SELECT content, pack, block, length, start, size FROM contents WHERE pack = ? ORDER BY block, start',
    number,
  )
  database.transaction(() => {
    for (const { content, ...place } of rows) {
      const bytes = readable(packs, content, place)
      if (bytes !== undefined) packs.add(content, bytes.slice())
      else database.run('DELETE FROM contents WHERE content = ?', content)
    }
    packs.flush()
  })
}

/** `undefined` for damaged bytes, which are lost. Checkpoints that need these bytes report the loss. */
function readable(packs: Packs, content: string, place: ContentLocation): Uint8Array | undefined {
  try {
    return packs.read(content, place)
  } catch {
    return undefined
  }
}

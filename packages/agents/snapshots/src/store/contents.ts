import { type Database, failed } from '@ws/tree/disk'

import type { Packs, ContentLocation } from './packs.ts'

export function placeOf(database: Database, content: string): ContentLocation | undefined {
  return database.get<ContentLocation & object>(
    'SELECT pack, block, length, start, size FROM contents WHERE content = ?',
    content,
  )
}

export function readSaved(database: Database, packs: Packs, content: string): Uint8Array {
  const place = placeOf(database, content)
  if (place === undefined)
    throw failed('EIO', 'saved bytes are missing, and nothing was changed', 'use another checkpoint')
  return packs.read(content, place)
}

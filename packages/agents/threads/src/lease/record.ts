import { WorkspaceError } from '@ws/core'
import { z } from 'zod'

import { processSchema } from './holder.ts'

const recordSchema = z.object({
  version: z.literal(1),
  state: z.enum(['held', 'free']),
  holder: z.object({ name: z.string().max(256), since: z.number() }),
  /** Grows with each change, to show people the order of changes. */
  counter: z.int().min(0),
  /** New with each change, so that versions computed from content never repeat. */
  nonce: z.string(),
  /** New with each acquisition, so that a holder recognises its own record. */
  hold: z.string().optional(),
  process: processSchema.optional(),
  notes: z.record(z.string(), z.string()).default({}),
})

export type LeaseRecord = z.output<typeof recordSchema>

export function encodeRecord(record: LeaseRecord): Uint8Array {
  return Buffer.from(`${JSON.stringify(record, undefined, 2)}\n`)
}

export function decodeRecord(path: string, bytes: Uint8Array): LeaseRecord {
  try {
    return recordSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
  } catch (error) {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'lease',
      path,
      reason: 'does not hold a lease of this version',
      remedy: 'make sure that no process holds this lease, then delete it',
      native: error,
    })
  }
}

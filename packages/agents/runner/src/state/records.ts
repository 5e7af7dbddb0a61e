import { z } from 'zod'

import type { Json } from '../json.ts'

const path = z.string()

/** One entry that a step left in its staging directory, and that lands in the output. Paths are from the output's root. */
export const entrySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('file'), path, hash: z.string(), size: z.number(), mode: z.number().optional() }),
  z.object({ type: z.literal('directory'), path }),
  z.object({ type: z.literal('symlink'), path, target: z.string() }),
])
export type LandedEntry = z.output<typeof entrySchema>

const failureSchema = z.object({
  code: z.string().optional(),
  path: z.string().optional(),
  rule: z.string().optional(),
  message: z.string(),
})

const outcomeSchema = z.object({
  state: z.enum(['done', 'current', 'failed']),
  attempt: z.number(),
  value: z.custom<Json>().optional(),
  files: z.number(),
  bytes: z.number(),
  failure: failureSchema.optional(),
})

/** A refusal of the policy, or a count of what it allowed. */
const decisionSchema = z.object({
  operation: z.string(),
  path: z.string(),
  outcome: z.enum(['allowed', 'denied']),
  rule: z.string().optional(),
  times: z.number(),
})
export type DecisionNote = z.output<typeof decisionSchema>

const reportSchema = z.object({
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  endedAt: z.number(),
  log: z.string(),
  decisions: z.array(decisionSchema),
  /** Changes of text files, as unified diffs. */
  diffs: z.array(z.object({ path, diff: z.string() })),
})
export type StepReport = z.output<typeof reportSchema>

export interface AttemptKey {
  readonly runId: string
  readonly stepId: string
  readonly attempt: number
}

/**
 * The journal's record of one attempt. `landing`: the staging directory is complete, and its entries are on their way to
 * the output. `ended`: there is an outcome, which never changes.
 */
export const recordSchema = z.object({
  runId: z.string(),
  stepId: z.string(),
  attempt: z.number(),
  state: z.enum(['landing', 'ended']),
  outcome: outcomeSchema,
  /** Decides whether a later run may take the outcome over. Absent: it may not. */
  fingerprint: z.string().optional(),
  entries: z.array(entrySchema),
  report: reportSchema,
})
export type StepRecord = z.output<typeof recordSchema>

/** The last state of a step that landed, whichever run it was in. */
export const landedSchema = z.object({
  stepId: z.string(),
  fingerprint: z.string().optional(),
  value: z.custom<Json>().optional(),
  entries: z.array(entrySchema),
})
export type Landed = z.output<typeof landedSchema>

export const runSchema = z.object({
  runId: z.string(),
  /** Counts the runs of this output, from 1. */
  number: z.number(),
  planHash: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  startedAt: z.number(),
  endedAt: z.number().optional(),
})
export type RunRecord = z.output<typeof runSchema>

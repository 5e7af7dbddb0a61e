import { z } from 'zod'

import type { Json } from '../json.ts'

const path = z.string()

/** An entry of a step's staging directory when the step ends. Paths start at the output's root. */
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

const decisionSchema = z.object({
  operation: z.string(),
  path: z.string(),
  outcome: z.enum(['allowed', 'denied']),
  rule: z.string().optional(),
  times: z.number(),
})
export type DecisionNote = z.output<typeof decisionSchema>

const reportSchema = z.object({
  startedAt: z.number(),
  endedAt: z.number(),
  log: z.string(),
  decisions: z.array(decisionSchema),
  diffs: z.array(z.object({ path, diff: z.string() })),
})
export type StepReport = z.output<typeof reportSchema>

export interface AttemptKey {
  readonly runId: string
  readonly stepId: string
  readonly attempt: number
}

/** The record of one attempt. `landing`: staging is complete, and its entries are moving to the output. `ended`: the outcome is final. */
export const recordSchema = z.object({
  runId: z.string(),
  stepId: z.string(),
  attempt: z.number(),
  state: z.enum(['landing', 'ended']),
  outcome: outcomeSchema,
  /** A later run with an equal fingerprint may reuse the outcome. Without a fingerprint, no run may reuse it. */
  fingerprint: z.string().optional(),
  entries: z.array(entrySchema),
  report: reportSchema,
})
export type StepRecord = z.output<typeof recordSchema>

export const landedSchema = z.object({
  stepId: z.string(),
  fingerprint: z.string().optional(),
  value: z.custom<Json>().optional(),
  entries: z.array(entrySchema),
})
export type Landed = z.output<typeof landedSchema>

export const runSchema = z.object({
  runId: z.string(),
  number: z.number(),
  planHash: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  startedAt: z.number(),
  endedAt: z.number().optional(),
})
export type RunRecord = z.output<typeof runSchema>

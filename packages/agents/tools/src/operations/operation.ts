import type { z } from 'zod'

import type { Outcome } from '../answers/problem.ts'
import type { ArgumentsSchema } from '../arguments/schema.ts'
import type { Call } from '../session/session.ts'
import type { Json } from '../types.ts'

/** One row of the table: everything that a face must know of an operation. */
export interface Operation<Schema extends ArgumentsSchema = ArgumentsSchema> {
  readonly name: string
  /** For the model: what it does, and its limits. */
  readonly description: string
  readonly input: Schema
  /** A correct call. */
  readonly example: { readonly [name: string]: Json | undefined }
  readonly readOnly: boolean
  /** It can replace or remove what was there. */
  readonly destructive: boolean
  /** The same call twice leaves the same files as once. */
  readonly idempotent: boolean
  readonly openWorld?: true | undefined
  /** Throws ToolProblem, WorkspaceError, or the signal's reason. */
  readonly handle: (call: Call, input: z.output<Schema>) => Promise<Outcome>
}

/** Infers the types of an operation. */
export function operation<Schema extends ArgumentsSchema>(row: Operation<Schema>): Operation<Schema> {
  return row
}

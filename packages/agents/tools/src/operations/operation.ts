import type { z } from 'zod'

import type { Outcome } from '../answers/problem.ts'
import type { ArgumentsSchema } from '../arguments/schema.ts'
import type { Call } from '../session/session.ts'
import type { Json } from '../types.ts'

export interface Operation<Schema extends ArgumentsSchema = ArgumentsSchema> {
  readonly name: string
  readonly description: string
  readonly input: Schema
  readonly example: { readonly [name: string]: Json | undefined }
  readonly readOnly: boolean
  /** The operation can replace or remove existing entries. */
  readonly destructive: boolean
  /** True if repeating the call changes nothing more. */
  readonly idempotent: boolean
  readonly openWorld?: true | undefined
  readonly handle: (call: Call, input: z.output<Schema>) => Promise<Outcome>
}

export function operation<Schema extends ArgumentsSchema>(row: Operation<Schema>): Operation<Schema> {
  return row
}

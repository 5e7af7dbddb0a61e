import type { NextOperation, Outcome } from '../answers/problem.ts'
import { checkArguments } from '../arguments/check.ts'
import { inputSchemaOf } from '../arguments/schema.ts'
import type { ArgumentsSchema } from '../arguments/schema.ts'
import type { Call } from '../session/session.ts'
import type { InputSchema, Json, NextCall, ToolAnnotations } from '../types.ts'
import type { z } from 'zod'

/** A tool of a face: how a model sees operations, and how its calls become theirs. */
export interface FaceTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: InputSchema
  readonly annotations: ToolAnnotations
  readonly runsCommands?: true | undefined
  /** A correct call, for answers that have no better one. */
  readonly example: NextCall['arguments']
  /** The words of this tool's answers. Default: those of the face. */
  readonly dialect?: Dialect | undefined
  /** Checks the arguments, then does the work. Throws as handlers of operations do. */
  readonly handle: (call: Call, input: unknown) => Promise<Outcome>
}

/** How answers speak of operations. */
export interface Dialect {
  /** The directory that all paths of the tools lie in. Default: the root. */
  readonly root?: string | undefined
  /** An operation as a call of the tools; `undefined` where they have none. */
  readonly next: (operation: NextOperation) => NextCall | undefined
  /** The names for arguments and operations that answers mention between backticks. */
  readonly words?: Readonly<Record<string, string>> | undefined
}

/** A form of the tools. */
export interface Face extends Dialect {
  readonly tools: readonly FaceTool[]
}

export interface FaceToolOptions<Schema extends ArgumentsSchema> {
  readonly name: string
  readonly description: string
  readonly input: Schema
  readonly example: { readonly [name: string]: Json | undefined }
  readonly annotations: Omit<ToolAnnotations, 'title' | 'openWorldHint'>
  readonly runsCommands?: true | undefined
  readonly run: (call: Call, input: z.output<Schema>) => Promise<Outcome>
}

/** A tool with arguments of its own. */
export function faceTool<Schema extends ArgumentsSchema>(options: FaceToolOptions<Schema>): FaceTool {
  const { name, description, input: schema, example, annotations, runsCommands, run } = options
  return {
    name,
    description,
    inputSchema: inputSchemaOf(schema),
    annotations: { title: name, ...annotations, openWorldHint: false },
    runsCommands,
    example,
    handle: async (call, input) => {
      const subject = `\`${name}\``
      const checked = checkArguments(schema, input, {
        subject,
        example,
        call: (given) => ({ tool: name, arguments: given }),
      })
      return run(call, checked)
    },
  }
}

export const readsOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true } as const
export const changes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false } as const
export const replaces = { readOnlyHint: false, destructiveHint: true, idempotentHint: true } as const

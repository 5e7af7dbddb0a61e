import type { NextOperation, Outcome } from '../answers/problem.ts'
import { checkArguments } from '../arguments/check.ts'
import { inputSchemaOf } from '../arguments/schema.ts'
import type { ArgumentsSchema } from '../arguments/schema.ts'
import type { Call } from '../session/session.ts'
import type { InputSchema, Json, NextCall, ToolAnnotations } from '../types.ts'
import type { z } from 'zod'

export interface FaceTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: InputSchema
  readonly annotations: ToolAnnotations
  readonly runsCommands?: true | undefined
  /** Returns whether a call of a changing tool only reads. Default: never. */
  readonly reads?: ((input: unknown) => boolean) | undefined
  readonly example: NextCall['arguments']
  readonly dialect?: Dialect | undefined
  /** Checks the arguments, then does the work. Throws as operations do. */
  readonly handle: (call: Call, input: unknown) => Promise<Outcome>
}

export interface Dialect {
  /** The directory of all paths of the tools. Default: the root. */
  readonly root?: string | undefined
  /** `undefined` where no tool does the operation. */
  readonly next: (operation: NextOperation) => NextCall | undefined
  readonly words?: Readonly<Record<string, string>> | undefined
}

export interface Face extends Dialect {
  readonly tools: readonly FaceTool[]
}

export interface FaceOptions {
  readonly downloads: boolean
  /** The root, for a shell that is kept between calls. Absent: each command has a shell of its own, which starts at the root. */
  readonly root?: string | undefined
}

export const placeOf = (root: FaceOptions['root']): string =>
  root === undefined ? 'at the root of the workspace' : 'in the workspace'

export interface FaceToolOptions<Schema extends ArgumentsSchema> {
  readonly name: string
  readonly description: string
  readonly input: Schema
  readonly example: { readonly [name: string]: Json | undefined }
  readonly annotations: Omit<ToolAnnotations, 'title' | 'openWorldHint'>
  readonly runsCommands?: true | undefined
  readonly run: (call: Call, input: z.output<Schema>) => Promise<Outcome>
}

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

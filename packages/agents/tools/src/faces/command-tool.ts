import type { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
import type { Outcome } from '../answers/problem.ts'
import { checkArguments, parseObject, shown } from '../arguments/check.ts'
import { nearestName } from '../arguments/nearest.ts'
import { inputSchemaOf } from '../arguments/schema.ts'
import type { ArgumentsSchema } from '../arguments/schema.ts'
import type { Call } from '../session/session.ts'
import type { InputSchema, NextCall } from '../types.ts'
import { changes } from './face.ts'
import type { Dialect, FaceTool } from './face.ts'

export interface CommandRow {
  readonly input: ArgumentsSchema
  readonly example: NextCall['arguments']
  readonly run: (call: Call, input: Readonly<Record<string, unknown>>) => Promise<Outcome>
}

export function commandRow<Schema extends ArgumentsSchema>(
  input: Schema,
  example: NextCall['arguments'],
  run: (call: Call, input: z.output<Schema>) => Promise<Outcome>,
): CommandRow {
  // each handler only gets values that its own schema checked
  return { input, example, run: run as unknown as CommandRow['run'] }
}

export interface CommandToolOptions {
  readonly name: string
  readonly description: string
  readonly commands: Readonly<Record<string, CommandRow>>
  readonly dialect?: Dialect | undefined
}

/** A tool whose argument `command` selects the operation: one flat schema, then a check of that command's arguments. */
export function commandTool({ name, description, commands, dialect }: CommandToolOptions): FaceTool {
  const names = Object.keys(commands)
  const [first = ''] = names
  const example = { command: first, ...commands[first]?.example }
  return {
    name,
    description,
    inputSchema: flatSchema(commands),
    annotations: { title: name, ...changes, openWorldHint: false },
    reads: (input) => (Object(input) as { readonly command?: unknown }).command === 'view',
    example,
    dialect,
    handle: async (call, input) => {
      const { command, ...rest } = parseObject(input, {
        subject: `\`${name}\``,
        example,
        call: (given) => ({ tool: name, arguments: given }),
      })
      const row = typeof command === 'string' && names.includes(command) ? commands[command] : undefined
      if (row === undefined || typeof command !== 'string') throw unknownCommand(name, command, commands)
      const checked = checkArguments(row.input, rest, {
        subject: `command \`${command}\``,
        example: row.example,
        call: (given) => ({ tool: name, arguments: { command, ...given } }),
      })
      return row.run(call, checked)
    },
  }
}

function flatSchema(commands: CommandToolOptions['commands']): InputSchema {
  const properties: Record<string, InputSchema['properties'][string]> = {
    command: { type: 'string', enum: Object.keys(commands), description: 'The command' },
  }
  for (const { input } of Object.values(commands)) {
    for (const [name, field] of Object.entries(inputSchemaOf(input).properties)) properties[name] ??= field
  }
  return { type: 'object', properties, required: ['command'], additionalProperties: false }
}

function unknownCommand(tool: string, given: unknown, commands: CommandToolOptions['commands']): ToolProblem {
  const names = Object.keys(commands)
  const meant = typeof given === 'string' ? nearestName(given, names) : undefined
  const chosen = meant ?? names[0] ?? ''
  const list = names.map((one) => `\`${one}\``).join(', ')
  return new ToolProblem({
    sentence:
      given === undefined || given === null
        ? `The argument \`command\` (one of ${list}) is missing`
        : `\`command\` must be one of ${list}, got ${shown(given)}`,
    remedy: 'nothing was changed; call again with one of them',
    next: { tool, arguments: { command: chosen, ...commands[chosen]?.example } },
    data: { code: 'EINVAL', argument: 'command' },
  })
}

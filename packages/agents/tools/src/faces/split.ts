import { checkArguments } from '../arguments/check.ts'
import { inputSchemaOf } from '../arguments/schema.ts'
import { operationNames, rowOf } from '../operations/table.ts'
import type { OperationName } from '../operations/table.ts'
import type { Face, FaceTool } from './face.ts'

export function createSplitFace(): Face {
  return {
    tools: operationNames.map((name) => operationTool(name)),
    next: ({ operation, arguments: given }) => ({ tool: operation, arguments: given }),
  }
}

export function operationTool(name: OperationName): FaceTool {
  const row = rowOf(name)
  return {
    name,
    description: row.description,
    inputSchema: inputSchemaOf(row.input),
    annotations: {
      title: name,
      readOnlyHint: row.readOnly,
      destructiveHint: row.destructive,
      idempotentHint: row.idempotent,
      openWorldHint: row.openWorld ?? false,
    },
    runsCommands: name === 'execute' ? true : undefined,
    example: row.example,
    handle: async (call, input) => {
      const checked = checkArguments(row.input, input, {
        subject: `\`${name}\``,
        example: row.example,
        call: (given) => ({ tool: name, arguments: given }),
      })
      return row.handle(call, checked)
    },
  }
}

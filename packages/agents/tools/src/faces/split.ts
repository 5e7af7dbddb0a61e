import { checkArguments } from '../arguments/check.ts'
import { inputSchemaOf } from '../arguments/schema.ts'
import { operationNames, rowOf } from '../operations/table.ts'
import type { OperationName } from '../operations/table.ts'
import type { InputSchema } from '../types.ts'
import type { Face, FaceOptions, FaceTool } from './face.ts'

export function createSplitFace({ root }: FaceOptions): Face {
  return {
    tools: operationNames.map((name) => operationTool(name, root)),
    next: ({ operation, arguments: given }) => ({ tool: operation, arguments: given }),
  }
}

/** @param root as in {@link FaceOptions} */
export function operationTool(name: OperationName, root: FaceOptions['root']): FaceTool {
  const row = rowOf(name)
  return {
    name,
    description: row.description,
    inputSchema: name === 'execute' ? executeSchema(root) : inputSchemaOf(row.input),
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

function executeSchema(root: FaceOptions['root']): InputSchema {
  const schema = inputSchemaOf(rowOf('execute').input)
  const { restart: _, ...properties } = schema.properties
  if (root === undefined) return { ...schema, properties }
  const description = 'Directory to go to first, as `cd` does. Default: where the last command ended'
  return { ...schema, properties: { ...schema.properties, cwd: { ...properties['cwd'], description } } }
}

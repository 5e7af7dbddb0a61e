import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import type { ToolAnswer } from '@ws/tools'

type Properties = Readonly<Record<string, { readonly type: 'string' | 'number' }>>

const text = { type: 'string' } as const
const transfer: Properties = { from: text, to: text, version: text }

/** Tools of `split` whose text has only these facts. A client may pass only text or only these, so other tools have no schema. */
const shortOutputs: Readonly<Record<string, Properties>> = {
  write: { path: text, change: text, version: text, size: { type: 'number' } },
  copy: transfer,
  rename: transfer,
  move: transfer,
  delete: { path: text },
}

/** The schema of a tool's structured output; `undefined` for a tool without structured output. */
export function outputSchemaOf(face: string | undefined, tool: string): StandardSchemaWithJSON | undefined {
  const properties = face === 'split' && Object.hasOwn(shortOutputs, tool) ? shortOutputs[tool] : undefined
  return properties && shownSchema({ type: 'object', properties, additionalProperties: false })
}

/** Limit of characters of the facts that are sent to programs beside an answer. */
const longestData = 4_096

/** Facts for programs, hidden from models: versions, counts, error codes, and the next call. */
export function metaOf({ data, next }: ToolAnswer): Record<string, unknown> {
  const isShort = data !== undefined && JSON.stringify(data).length <= longestData
  return { ...(isShort && { 'ws/data': data }), ...(next && { 'ws/next': next }) }
}

/** A schema that only describes: tools check their own arguments, with better messages. */
export function shownSchema(schema: object): StandardSchemaWithJSON {
  const json = (): Record<string, unknown> => ({ ...schema })
  return {
    '~standard': {
      version: 1,
      vendor: 'ws',
      validate: (value) => ({ value }),
      jsonSchema: { input: json, output: json },
    },
  }
}

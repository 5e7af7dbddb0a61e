import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import type { ToolAnswer } from '@ws/tools'

type Properties = Readonly<Record<string, { readonly type: 'string' | 'number' }>>

const text = { type: 'string' } as const
const transfer: Properties = { from: text, to: text, version: text }

/**
 * Tools of the `split` face whose text says no more than these few facts. Clients give a model both the text and the
 * structured content, and some give it only one: an answer with a body has no structured content.
 */
const shortOutputs: Readonly<Record<string, Properties>> = {
  write: { path: text, change: text, version: text, size: { type: 'number' } },
  copy: transfer,
  rename: transfer,
  move: transfer,
  delete: { path: text },
}

/** The schema of the structured output of a tool; `undefined` for a tool without one. */
export function outputSchemaOf(face: string | undefined, tool: string): StandardSchemaWithJSON | undefined {
  const properties = face === 'split' && Object.hasOwn(shortOutputs, tool) ? shortOutputs[tool] : undefined
  return properties && shownSchema({ type: 'object', properties, additionalProperties: false })
}

/** Characters of facts for programs that go along with an answer. */
const longestData = 4_096

/** The facts of an answer for programs: versions, counts, codes of errors, and the call that goes on. No model is shown these. */
export function metaOf({ data, next }: ToolAnswer): Record<string, unknown> {
  const isShort = data !== undefined && JSON.stringify(data).length <= longestData
  return { ...(isShort && { 'ws/data': data }), ...(next && { 'ws/next': next }) }
}

/** A schema that is only shown: the tools check their arguments themselves, and their errors say how to call them. */
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

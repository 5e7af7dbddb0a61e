import { z } from 'zod'

import type { InputSchema } from '../types.ts'

/** The arguments of a tool: a zod object that refuses unknown names. */
export type ArgumentsSchema = z.ZodObject<z.ZodRawShape, z.core.$strict>

export type FieldSchema = InputSchema['properties'][string]

export function inputSchemaOf(schema: ArgumentsSchema): InputSchema {
  const { properties = {}, required } = z.toJSONSchema(schema, { target: 'draft-7', io: 'input' })
  const shown = properties as Record<string, FieldSchema>
  return { type: 'object', properties: shown, ...(required && { required }), additionalProperties: false }
}

export function shapeInWords(field: FieldSchema): string {
  const { type, minimum, maximum, minLength } = field
  const choices = field['enum']
  if (Array.isArray(choices)) return `one of ${choices.map((one) => `\`${String(one)}\``).join(', ')}`
  switch (type) {
    case 'string':
      return minLength === 1 ? 'text that is not empty' : 'text'
    case 'integer':
    case 'number': {
      const word = type === 'integer' ? 'a whole number' : 'a number'
      const from = typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? ` from ${minimum}` : ''
      const to = typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? ` to ${maximum}` : ''
      return `${word}${from}${to}`
    }
    case 'boolean':
      return 'true or false'
    case 'array':
      return 'a list'
    case 'object':
      return 'an object'
    default:
      return 'text, an object or a list'
  }
}

import { z } from 'zod'

import type { StepTypes } from '../types/types.ts'
import { planSchema } from './schema.ts'

export function createPlanJsonSchema(types: StepTypes): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(planSchema, { io: 'input' })
  const steps = schema.properties?.['steps']
  const item = typeof steps === 'object' ? steps.items : undefined
  if (typeof item !== 'object' || Array.isArray(item)) return schema
  item.allOf = Object.entries(types).map(([type, { settings }]) => {
    const { $schema: _, ...own } = z.toJSONSchema(settings, { io: 'input', unrepresentable: 'any' })
    const isOfType = { properties: { type: { const: type } } }
    // `then` is a word of JSON Schema
    // oxlint-disable-next-line unicorn/no-thenable
    return { if: isOfType, then: { properties: { with: own } } }
  })
  return schema
}

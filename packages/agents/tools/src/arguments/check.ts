import type { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
import type { NextOperation } from '../answers/problem.ts'
import type { Json, NextCall } from '../types.ts'
import { nearestName } from './nearest.ts'
import { inputSchemaOf, shapeInWords } from './schema.ts'
import type { ArgumentsSchema, FieldSchema } from './schema.ts'

export interface CheckOptions {
  readonly subject: string
  readonly example: Arguments
  readonly call: (given: Arguments) => NextOperation | NextCall
}

type Arguments = { readonly [name: string]: Json | undefined }

const schemas = new WeakMap<ArgumentsSchema, ReturnType<typeof inputSchemaOf>>()

/** Accepts JSON text for objects and lists, `null` for absent arguments, and numbers and booleans as text. @throws ToolProblem */
export function checkArguments<Schema extends ArgumentsSchema>(
  schema: Schema,
  input: unknown,
  options: CheckOptions,
): z.output<Schema> {
  const { properties, required = [] } = schemaOf(schema)
  const names = Object.keys(properties)
  const given = parseObject(input, options)
  const known: Record<string, unknown> = {}
  // a plain loop: there may be a million names, and the first unknown name ends the loop
  for (const name of Object.keys(given)) {
    const value = given[name]
    if (value === null || value === undefined) continue
    const field = names.includes(name) ? properties[name] : undefined
    if (field === undefined) throw superfluous(name, { names, given, known: properties, options })
    known[name] = coerce(value, field)
  }
  const fail = (sentence: string, argument: string): ToolProblem =>
    new ToolProblem({
      sentence,
      remedy: 'nothing was changed; correct the argument and call again',
      next: exampleCall(known, properties, argument, options),
      data: { code: 'EINVAL', argument },
    })
  for (const name of required) {
    if (known[name] !== undefined) continue
    throw fail(
      `${options.subject} needs the argument \`${name}\` (${described(properties[name])}), which is missing`,
      name,
    )
  }
  const result = schema.safeParse(known)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const [name = ''] = issue?.path ?? []
  const field = properties[String(name)]
  const below =
    issue === undefined || issue.path.length < 2 ? '' : ` (at \`${issue.path.join('.')}\`: ${issue.message})`
  const shape = issue?.code === 'custom' ? issue.message : field === undefined ? 'valid' : shapeInWords(field)
  throw fail(`\`${String(name)}\` must be ${shape}, got ${shown(known[String(name)])}${below}`, String(name))
}

function schemaOf(schema: ArgumentsSchema): ReturnType<typeof inputSchemaOf> {
  const found = schemas.get(schema) ?? inputSchemaOf(schema)
  schemas.set(schema, found)
  return found
}

export function parseObject(input: unknown, options: CheckOptions): Readonly<Record<string, unknown>> {
  const parsed = typeof input === 'string' ? parseJson(input) : (input ?? {})
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
    return parsed as Readonly<Record<string, unknown>>
  }
  throw new ToolProblem({
    sentence: `The arguments must be an object, got ${shown(input)}`,
    remedy: 'nothing was changed; pass the arguments by name',
    next: options.call(options.example),
    data: { code: 'EINVAL' },
  })
}

interface Superfluous {
  readonly names: readonly string[]
  readonly given: Readonly<Record<string, unknown>>
  readonly known: Readonly<Record<string, FieldSchema>>
  readonly options: CheckOptions
}

function superfluous(name: string, { names, given, known, options }: Superfluous): ToolProblem {
  const free = names.filter((candidate) => (given[candidate] ?? null) === null)
  const meant = nearestName(name, free)
  const corrected: Record<string, unknown> = {}
  for (const one of names) if (Object.hasOwn(given, one)) corrected[one] = given[one]
  if (meant !== undefined) corrected[meant] = given[name]
  const quoted = `\`${name.slice(0, 60).toWellFormed()}\``
  return new ToolProblem({
    sentence: `${quoted} is not an argument of ${options.subject}${meant === undefined ? `, which takes ${names.map((one) => `\`${one}\``).join(', ')}` : `; the nearest is \`${meant}\``}`,
    remedy:
      meant === undefined ? 'nothing was changed; leave it out' : `nothing was changed; call again with \`${meant}\``,
    next: exampleCall(corrected, known, '', options),
    data: { code: 'EINVAL', argument: name.slice(0, 60).toWellFormed() },
  })
}

function exampleCall(
  given: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, FieldSchema>>,
  wrong: string,
  { example, call }: CheckOptions,
): NextOperation | NextCall {
  const kept = Object.entries(given).filter(([name, value]) => {
    const field = properties[name]
    if (name === wrong || field === undefined || value === null || value === undefined) return false
    return fits(value, field) && beginningOf(value, 500).length <= 500
  })
  return call({ ...example, ...(Object.fromEntries(kept) as Record<string, Json>) })
}

function fits(value: unknown, { type, enum: choices }: FieldSchema): boolean {
  if (Array.isArray(choices)) return choices.includes(value)
  if (type === 'integer' || type === 'number') return typeof value === 'number'
  if (type === 'array') return Array.isArray(value)
  return type === undefined || typeof value === type
}

/** Converts harmless differences of type. A text too long to parse stays unchanged. */
function coerce(value: unknown, { type }: FieldSchema): unknown {
  if (typeof value !== 'string' || type === 'string' || value.length > longestJson) return value
  const text = value.trim()
  if ((type === 'integer' || type === 'number') && /^-?\d{1,15}(?:\.\d{1,10})?$/u.test(text)) return Number(text)
  if (type === 'boolean' && /^(?:true|false)$/iu.test(text)) return text.toLowerCase() === 'true'
  if (type === 'array' && text.startsWith('[')) return parseJson(text) ?? value
  if (type === 'object' && text.startsWith('{')) return parseJson(text) ?? value
  return value
}

/** Limit of characters of a list or an object in text form: parsing a longer text would block the thread. */
const longestJson = 256 * 1024

function parseJson(text: string): unknown {
  if (text.length > longestJson) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined // no JSON
  }
}

function described(field: FieldSchema | undefined): string {
  return field === undefined ? 'text' : shapeInWords(field)
}

export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = beginningOf(value, 80) ?? typeof value
  return `\`${(text.length > 80 ? `${text.slice(0, 80)}…` : text).toWellFormed()}\``
}

function beginningOf(value: unknown, most: number): string {
  return JSON.stringify(typeof value === 'string' ? value.slice(0, most) : value)
}

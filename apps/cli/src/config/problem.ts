import { quotePath } from '@ws/core'
import { nearestName } from '@ws/core/options'
import type { z } from 'zod'

type Issue = z.core.$ZodIssue

/** The first problem as one sentence with its place: `mounts[0].at must be a string, got a number`. */
export function describeProblem(error: z.ZodError, schema: z.core.$ZodType): string {
  const issue = deepest(error.issues)
  if (issue === undefined) return 'the file is not valid'
  const place = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  const subject = place === '' ? 'the file' : place.replace(/^\./u, '')
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.map((key) => quotePath(key)).join(', ')
    const where = place === '' ? '' : `${subject}: `
    const nearest = nearestName(issue.keys[0] ?? '', keysAt(schema, issue.path))
    const remedy = nearest === undefined ? 'remove or correct it' : `did you mean \`${nearest}\`?`
    return `${where}unknown ${issue.keys.length > 1 ? 'keys' : 'key'} ${keys}; ${remedy}`
  }
  const given = 'discriminator' in issue ? ownValue(issue.input, String(issue.discriminator)) : issue.input
  const wanted = wantedBy(issue)
  if (given === undefined && issue.code !== 'custom') return `${subject} is missing; it must be ${wanted}`
  if (issue.code === 'invalid_format' && issue.format === 'regex') return `${subject} must be ${wanted}`
  return `${subject} must ${issue.code === 'custom' ? wanted : `be ${wanted}, got ${describeValue(given)}`}`
}

/** The path of the first problem; for an unknown key, the key itself. */
export function placeOfProblem(error: z.ZodError): readonly PropertyKey[] {
  const issue = deepest(error.issues)
  if (issue?.code === 'unrecognized_keys') return [...issue.path, ...issue.keys.slice(0, 1)]
  return issue?.path ?? []
}

function keysAt(schema: z.core.$ZodType, [first, ...rest]: readonly PropertyKey[]): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
      return keysAt(def.innerType, first === undefined ? [] : [first, ...rest])
    case 'union':
      return def.options.flatMap((option) => keysAt(option, first === undefined ? [] : [first, ...rest]))
    case 'array':
      return keysAt(def.element, rest)
    case 'object': {
      if (first === undefined) return Object.keys(def.shape)
      const inner = def.shape[String(first)]
      return inner === undefined ? [] : keysAt(inner, rest)
    }
    default:
      return []
  }
}

/** The most specific problem: of a union, the problem of the alternative that matched deepest. */
function deepest(issues: readonly Issue[]): Issue | undefined {
  const [issue] = issues
  if (issue?.code !== 'invalid_union') return issue
  const alternatives = issue.errors.map((alternative) => deepest(alternative)).filter((found) => found !== undefined)
  const best = alternatives.find((found) => found.path.length > 0 || found.code === 'unrecognized_keys')
  return best === undefined ? issue : { ...best, path: [...issue.path, ...best.path] }
}

const shapes: Readonly<Record<string, string>> = {
  string: 'a string',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
}

function wantedBy(issue: Issue): string {
  switch (issue.code) {
    case 'custom':
      return issue.message
    case 'invalid_type':
      return shapes[issue.expected] ?? issue.expected
    case 'invalid_value':
      return oneOf(issue.values)
    case 'invalid_union':
      return 'options' in issue
        ? oneOf(issue.options ?? [])
        : [...new Set(issue.errors.flatMap((alternative) => alternative.slice(0, 1).map(wantedBy)))].join(' or ')
    case 'too_small':
      if (issue.origin === 'string') return 'a string that is not empty'
      if (issue.origin === 'array') return `a list with at least ${issue.minimum} entry`
      return `a whole number of at least ${issue.minimum}`
    case 'invalid_format':
      return issue.format === 'starts_with' && 'prefix' in issue
        ? `a string that begins with \`${String(issue.prefix)}\``
        : issue.message
    default:
      return 'something else'
  }
}

function oneOf(values: readonly unknown[]): string {
  const quoted = values.map((value) => `\`${String(value)}\``)
  return quoted.length > 1 ? `one of ${quoted.join(', ')}` : quoted.join('')
}

const ownValue = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined

/** Describes a value. Shows only short texts: a longer text may be a secret. */
function describeValue(value: unknown): string {
  if (typeof value === 'string') return value.length <= 40 ? quotePath(value) : 'a longer string'
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return `\`${String(value)}\``
  return Array.isArray(value) ? 'a list' : 'an object'
}

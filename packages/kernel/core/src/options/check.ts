import { WorkspaceError, quotePath } from '../errors.ts'
import { nearestName } from './nearest.ts'
import type { OptionShape, OptionShapes } from './shapes.ts'

export interface CheckOptionsContext {
  readonly operation: string
  /** The name of the options in messages. Default `options`. */
  readonly name?: string | undefined
  /** A prefix for names of nested options: `limits.`. Default: none. */
  readonly prefix?: string | undefined
  /** Removed options with their remedies: `use \`timeouts.flush\``. Each entry is kept for one version. */
  readonly removed?: Readonly<Record<string, string>> | undefined
}

/** Checks options by name and shape. `undefined` means "not given". @throws WorkspaceError `EINVAL` with option, shape and value */
export function checkOptions<Options extends object>(
  given: unknown,
  shapes: OptionShapes<Options>,
  context: CheckOptionsContext,
): asserts given is Options | undefined {
  checkNames(given, shapes as unknown as OptionShapes, context)
}

function checkNames(given: unknown, shapes: OptionShapes, context: CheckOptionsContext): void {
  const { operation, name = 'options', prefix = '', removed = {} } = context
  if (given === undefined) {
    checkRequired({}, shapes, operation, prefix)
    return
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidOption(operation, name, 'an object', given)
  }
  for (const key of Object.keys(given)) {
    if (!Object.hasOwn(shapes, key)) throw unknownOption(key, Object.keys(shapes), { operation, prefix, removed })
    const value = (given as Readonly<Record<string, unknown>>)[key]
    if (value !== undefined) checkOption(operation, prefix + key, value, shapes[key] as OptionShape)
  }
  checkRequired(given, shapes, operation, prefix)
}

function checkRequired(given: object, shapes: OptionShapes, operation: string, prefix: string): void {
  // Makes no copy: this function runs in every method call.
  for (const key in shapes) {
    const shape = shapes[key] as OptionShape
    if (shape.required !== true || (given as Readonly<Record<string, unknown>>)[key] !== undefined) continue
    throw invalidOption(operation, prefix + key, shape.must, undefined)
  }
}

/** Checks one value. @throws WorkspaceError `EINVAL` */
export function checkOption(operation: string, name: string, value: unknown, shape: OptionShape): void {
  if (!shape.accepts(value)) throw invalidOption(operation, name, shape.must, value, shape)
  const { options, element, entries } = shape
  if (typeof value !== 'object' || value === null) return
  if (options !== undefined) checkNames(value, options, { operation, name, prefix: `${name}.` })
  if (element !== undefined) {
    for (const [index, item] of (value as readonly unknown[]).entries()) {
      checkOption(operation, `${name}[${index}]`, item, element)
    }
  }
  if (entries === undefined) return
  for (const [key, item] of Object.entries(value)) {
    if (!entries.names.accepts(key)) {
      throw invalid(operation, `names in ${quotePath(name)}`, entries.names.must, describeValue(key), 'use such names')
    }
    if (item !== undefined) checkOption(operation, `${name}.${key}`, item, entries.values)
  }
}

/** Refuses `name` together with any of `others`. @throws WorkspaceError `EINVAL` that names both options */
export function refuseBeside(operation: string, given: object, name: string, others: readonly string[]): void {
  const values = given as Readonly<Record<string, unknown>>
  const beside = others.find((other) => values[name] !== undefined && values[other] !== undefined)
  if (beside === undefined) return
  const reason = `\`${beside}\` and \`${name}\` are both given`
  throw new WorkspaceError({ code: 'EINVAL', operation, reason, remedy: 'pass one of them' })
}

/** Returns an error such as "`concurrency` must be an integer from 1 to 256, got `0`". */
export function invalidOption(
  operation: string,
  name: string,
  must: string,
  given: unknown,
  { hidden, required }: Pick<OptionShape, 'hidden' | 'required'> = {},
): WorkspaceError {
  const subject = quotePath(name)
  const got =
    hidden !== true ? describeValue(given) : typeof given === 'string' ? 'a string of another form' : typeOf(given)
  const remedy =
    given === undefined
      ? `pass ${subject}`
      : isPromise(given)
        ? 'pass what it gives: write `await` before it'
        : required === true
          ? `pass such a value as ${subject}`
          : `pass such a value, or leave ${subject} out`
  return invalid(operation, subject, must, got, remedy)
}

function invalid(operation: string, subject: string, must: string, got: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason: `${subject} must be ${must}, got ${got}`, remedy })
}

function unknownOption(
  key: string,
  known: readonly string[],
  { operation, prefix, removed }: { operation: string; prefix: string; removed: Readonly<Record<string, string>> },
): WorkspaceError {
  if (Object.hasOwn(removed, key)) {
    const reason = `${quotePath(key)} is not an option any more`
    return new WorkspaceError({ code: 'EINVAL', operation, reason, remedy: removed[key] })
  }
  const nearest = nearestName(key, known)
  const list = known.map((name) => `\`${prefix}${name}\``).join(', ')
  const others = list === '' ? 'leave it out' : `use one of ${list}`
  return new WorkspaceError({
    code: 'EINVAL',
    operation,
    reason: `${quotePath(prefix + key)} is not an option`,
    remedy: nearest === undefined ? others : `did you mean \`${prefix}${nearest}\`?`,
  })
}

const longestShown = 60

export function describeValue(value: unknown): string {
  if (typeof value === 'string') {
    return quotePath(JSON.stringify(value.length > longestShown ? `${value.slice(0, longestShown)}…` : value))
  }
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return `\`${String(value)}\``
  return typeOf(value)
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return '`null`'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return isPromise(value) ? 'a promise' : 'an object'
  return `a ${typeof value}`
}

function isPromise(value: unknown): boolean {
  return value instanceof Promise
}

import { isWorkspaceError, type ErrorCode, type WorkspaceError } from '@ws/core'
import { LinkSignal } from '@ws/core/adapter'

/** The error of a failed check of the kit. Test frameworks show the difference between both values. */
export class ConformanceError extends Error {
  readonly actual: unknown
  readonly expected: unknown

  constructor(message: string, actual?: unknown, expected?: unknown) {
    super(message)
    this.name = 'ConformanceError'
    this.actual = actual
    this.expected = expected
  }
}

export function fail(message: string): never {
  throw new ConformanceError(message)
}

export function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ConformanceError(message)
}

/** Compares plain data. Absent and `undefined` properties are equal. */
export function equal(actual: unknown, expected: unknown, what = 'the value'): void {
  if (same(actual, expected)) return
  throw new ConformanceError(`${what} is ${show(actual)}, expected ${show(expected)}`, actual, expected)
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof Uint8Array || b instanceof Uint8Array) {
    if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array) || a.length !== b.length) return false
    for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false
    return true
  }
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const left: Record<string, unknown> = { ...a }
  const right: Record<string, unknown> = { ...b }
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keys].every((key) => same(left[key], right[key]))
}

function show(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes [${value.subarray(0, 16).join(' ')}…]`
  if (value instanceof Error) return `${value.name}: ${value.message}`
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

export async function rejection(promise: PromiseLike<unknown>, what = 'it'): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new ConformanceError(`${what} should have been refused, and resolved with ${show(value)}`, value)
}

export async function rejects(
  promise: PromiseLike<unknown>,
  code: ErrorCode | readonly ErrorCode[],
  { path, what = 'it' }: { readonly path?: string | readonly string[] | undefined; readonly what?: string } = {},
): Promise<WorkspaceError> {
  const codes: readonly ErrorCode[] = typeof code === 'string' ? [code] : code
  const error = await rejection(promise, `${what} (${codes.join(' or ')})`)
  if (!isWorkspaceError(error)) {
    throw new ConformanceError(`${what} should have failed with ${codes.join(' or ')}, not with ${show(error)}`, error)
  }
  if (!codes.includes(error.code)) {
    throw new ConformanceError(
      `${what} should have failed with ${codes.join(' or ')}, not with ${show(error)}`,
      error.code,
      codes,
    )
  }
  const paths = path === undefined || typeof path === 'string' ? [path] : path
  if (path !== undefined && !paths.some((one) => one === error.path))
    equal(error.path, paths[0], `${what}: the path of ${error.code}`)
  return error
}

export interface ExpectedLink {
  readonly argument?: LinkSignal['argument']
  readonly at: string
  readonly target: string
  readonly rest: string
}

export async function meetsLink(promise: PromiseLike<unknown>, expected: ExpectedLink, what = 'it'): Promise<void> {
  const error = await rejection(promise, `${what} (a LinkSignal)`)
  if (!(error instanceof LinkSignal)) {
    throw new ConformanceError(`${what} should have rejected with a LinkSignal, not with ${show(error)}`, error)
  }
  const { argument, at, target, rest } = error
  equal({ argument, at, target, rest }, { argument: 'path', ...expected }, `${what}: the LinkSignal`)
}

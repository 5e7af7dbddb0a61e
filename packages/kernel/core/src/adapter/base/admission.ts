import { mountRoot, type MountPath, assertMountPath, maxPathBytes } from '../../path/virtual-path.ts'
import type { Driver, DriverSearchQuery } from '../../contract/driver.ts'
import { contractError, invalidArgument } from '../failures.ts'
import { operations, type AdapterOperation, type OperationFacts } from '../../contract/operations.ts'
import { WorkspaceError } from '../../errors.ts'
import type { ByteRange, SearchQuery, Times } from '../../contract/file-types.ts'

const defaultHits = 1_000
const defaultFileBytes = 32 * 1024 * 1024

function checkPath(path: string, operation: string, most: number): asserts path is MountPath {
  assertMountPath(path, operation)
  // a UTF-16 unit takes at most three bytes in UTF-8
  if (path.length * 3 <= most) return
  const bytes = utf8Length(path)
  if (bytes <= most) return
  const reason = `is ${bytes} bytes long; the limit here is ${most}`
  throw new WorkspaceError({ code: 'ENAMETOOLONG', operation, path, reason, remedy: 'use a shorter path' })
}

export function checkRange(range: ByteRange | undefined, operation: string, path: string): void {
  if (range === undefined) return
  const { offset, length = 0 } = range
  if (isCount(offset) && isCount(length)) return
  throw invalidArgument(
    operation,
    path,
    'cannot be read in that range',
    'give offset and length as whole numbers from 0',
  )
}

export function checkTarget(target: unknown, path: string): asserts target is string {
  const operation = 'createSymlink'
  const remedy = 'give the path that the link is to lead to'
  if (typeof target !== 'string' || target === '') throw invalidArgument(operation, path, 'has an empty target', remedy)
  if (target.includes('\0') || !target.isWellFormed()) {
    throw invalidArgument(operation, path, 'has a target that no path can be', remedy)
  }
  if (utf8Length(target) <= maxPathBytes) return
  const reason = `has a target of more than ${maxPathBytes} bytes`
  throw new WorkspaceError({ code: 'ENAMETOOLONG', operation, path, reason })
}

export function checkMode(mode: number, operation: string, path: string): void {
  if (Number.isInteger(mode) && mode >= 0 && mode <= 0o777) return
  throw invalidArgument(operation, path, 'cannot get that mode', 'give permission bits from 0 to 0o777')
}

export function checkTimes(times: Times, operation: string, path: string): void {
  const given = (times as Times | null | undefined)?.modifiedAt
  if (typeof given === 'number' && settable(given) === given) return
  throw invalidArgument(operation, path, 'cannot get that time', 'give `modifiedAt` in milliseconds since 1970')
}

export function wholeQuery(query: SearchQuery): DriverSearchQuery {
  const { regex = false, caseSensitive = true, exclude = [] } = query
  const { maxHits = defaultHits, maxFileBytes = defaultFileBytes } = query
  if (!(maxHits >= 0 && maxFileBytes >= 0)) {
    throw invalidArgument('search', query.in, 'was given a limit that is not a number from 0')
  }
  return { ...query, regex, caseSensitive, exclude, maxHits, maxFileBytes }
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export class Admission {
  isClosed = false
  readonly #driver: Driver

  constructor(driver: Driver) {
    this.#driver = driver
  }

  /** Runs the checks of every operation in this order, before the driver is called. */
  admit(operation: AdapterOperation, path: MountPath, signal?: AbortSignal, destination?: MountPath): void {
    const { creates, changes, replaces }: OperationFacts = operations[operation]
    const { maxPathBytes, readOnly } = this.#driver.capabilities
    checkPath(path, operation, maxPathBytes)
    this.#driver.checkPath?.(path, operation, creates === 'path')
    if (destination !== undefined) {
      checkPath(destination, operation, maxPathBytes)
      this.#driver.checkPath?.(destination, operation, true)
    }
    this.goOn(operation, path, signal)
    if (changes && readOnly) throw contractError('EROFS', operation, path)
    const isRoot = path === mountRoot || destination === mountRoot
    if (isRoot && replaces === true && path !== destination) throw contractError('EBUSY', operation, mountRoot)
  }

  checkConditional(operation: AdapterOperation, path: MountPath): void {
    const { condition }: OperationFacts = operations[operation]
    if (condition === undefined || this.#driver.capabilities[condition] !== 'none') return
    throw contractError('noCondition', operation, path)
  }

  goOn(operation: AdapterOperation, path: MountPath, signal: AbortSignal | undefined): void {
    if (this.isClosed) throw contractError('ECLOSED', operation, path)
    signal?.throwIfAborted()
  }
}

/** The last millisecond that a Date can represent. Other programs can give files later times. */
const latestDate = 8.64e15
/** The last millisecond of the year 9999: other programs cannot read later times. */
const latestSettable = 253_402_300_799_999
/** The last second of a signed 32-bit number. */
const latestInTar = 0x7fff_ffff

export function dateable(time: number): number | undefined {
  return Math.abs(time) <= latestDate ? time : undefined
}

export function settable(time: number): number {
  return Math.min(Math.max(time, 0), latestSettable)
}

export function tarTime(time: number): Date {
  return new Date(Math.min(Math.max(time, 0), latestInTar * 1_000))
}

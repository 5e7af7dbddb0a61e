import { hasMethods } from '../../options/shapes.ts'

type Fields = Readonly<Record<string, unknown>>

const types: ReadonlySet<unknown> = new Set(['file', 'directory', 'symlink', 'other'])
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isVersion = (value: unknown): boolean => typeof value === 'string' && value !== '' && value !== 'absent'
const may = (value: unknown, accepts: (value: unknown) => boolean): boolean => value === undefined || accepts(value)
const isNumber = (value: unknown): boolean => typeof value === 'number' && !Number.isNaN(value)

export const isBytes = (value: unknown): boolean => value instanceof Uint8Array
export const isText = (value: unknown): boolean => typeof value === 'string'
export const isFunction = (value: unknown): boolean => typeof value === 'function'
export const isNothing = (value: unknown): boolean => value === undefined

export function isStat(value: unknown): boolean {
  if (!isFields(value)) return false
  const { type, size, modifiedAt, mode, version } = value
  return types.has(type) && isCount(size) && isVersion(version) && may(modifiedAt, isNumber) && may(mode, isCount)
}

export function isReadResult(value: unknown): boolean {
  return isFields(value) && isBytes(value['bytes']) && isStat(value['stat'])
}

export function isStreamResult(value: unknown): boolean {
  return (
    isFields(value) && isStat(value['stat']) && isFields(value['stream']) && Symbol.asyncIterator in value['stream']
  )
}

export function isWriteResult(value: unknown): boolean {
  return isFields(value) && isVersion(value['version']) && isCount(value['size']) && may(value['modifiedAt'], isNumber)
}

export function isTransferResult(value: unknown): boolean {
  return isFields(value) && may(value['version'], isVersion)
}

export function isEntry(value: unknown): boolean {
  if (!isFields(value)) return false
  const { path, name, type, size, version } = value
  const isNamed = isText(path) && isText(name) && types.has(type)
  return isNamed && may(size, isCount) && may(version, isVersion)
}

export function isHit(value: unknown): boolean {
  if (!isFields(value)) return false
  const { path, line, column, text } = value
  return isText(path) && isText(text) && isCount(line) && isCount(column)
}

export function isHostDirectory(value: unknown): boolean {
  if (!isFields(value)) return false
  const { path, identity, ancestors } = value
  return isText(path) && isText(identity) && Array.isArray(ancestors) && ancestors.every(isText)
}

export function isAdapter(value: unknown): boolean {
  return hasMethods(value, 'stat', 'read', 'write', 'list', 'delete', 'close')
}

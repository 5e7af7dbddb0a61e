import { type ErrorCode, isWorkspaceError, type WorkspaceError } from '../errors.ts'

/** Error numbers of Linux, and messages of libuv. */
const known = {
  EACCES: [13, 'permission denied'],
  EBADF: [9, 'bad file descriptor'],
  EBUSY: [16, 'resource busy or locked'],
  EDQUOT: [122, 'disk quota exceeded'],
  EEXIST: [17, 'file already exists'],
  EFBIG: [27, 'file too large'],
  EINVAL: [22, 'invalid argument'],
  EIO: [5, 'i/o error'],
  EISDIR: [21, 'illegal operation on a directory'],
  ELOOP: [40, 'too many symbolic links encountered'],
  ENAMETOOLONG: [36, 'name too long'],
  ENOENT: [2, 'no such file or directory'],
  ENOSYS: [38, 'function not implemented'],
  ENOSPC: [28, 'no space left on device'],
  ENOTDIR: [20, 'not a directory'],
  ENOTEMPTY: [39, 'directory not empty'],
  ENOTSUP: [95, 'operation not supported on socket'],
  EROFS: [30, 'read-only file system'],
  ETIMEDOUT: [110, 'connection timed out'],
} as const

type NodeCode = keyof typeof known

/** Our error codes that Node does not have, with the nearest code of Node. */
const translated: { readonly [Code in Exclude<ErrorCode, NodeCode>]: NodeCode } = {
  EOUTSIDE: 'EACCES',
  ESECURITY: 'EACCES',
  ECONFLICT: 'EBUSY',
  EBACKEND: 'EIO',
  ECLOSED: 'EBADF',
  ENOWORKSPACE: 'ENOENT',
  ENOEXECUTOR: 'ENOTSUP',
  ENOEXEC: 'ENOTSUP',
  EUNENFORCEABLE: 'ENOTSUP',
}

export interface Syscall {
  readonly syscall: string
  readonly path?: string | undefined
  readonly dest?: string | undefined
}

export function nodeError(code: NodeCode, { syscall, path, dest }: Syscall, cause?: unknown): Error {
  const [number, words] = known[code]
  const paths = path === undefined ? '' : ` '${path}'${dest === undefined ? '' : ` -> '${dest}'`}`
  const error = new Error(`${code}: ${words}, ${syscall}${paths}`, cause === undefined ? undefined : { cause })
  const places = { ...(path === undefined ? {} : { path }), ...(dest === undefined ? {} : { dest }) }
  return Object.assign(error, { errno: -number, code, syscall, ...places })
}

/** Converts a workspace's error to the error that Node would throw, with the original as `cause`. */
export function explain(error: unknown, call: Syscall): unknown {
  return isWorkspaceError(error) ? nodeError(codeOf(error), call, error) : error
}

function codeOf({ code }: WorkspaceError): NodeCode {
  return code in translated ? translated[code as keyof typeof translated] : (code as NodeCode)
}

export function abortError(signal: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: signal.reason })
  error.name = 'AbortError'
  return Object.assign(error, { code: 'ABORT_ERR' })
}

export function invalidValue(name: string, value: string, is = 'is invalid'): Error {
  const shown = value.replaceAll('\0', String.raw`\x00`)
  const error = new TypeError(`The argument '${name}' ${is}. Received '${shown}'`)
  return Object.assign(error, { code: 'ERR_INVALID_ARG_VALUE' })
}

export function invalidType(name: string, must: string, value: unknown): Error {
  const isInstance = typeof value === 'object' && value !== null
  const quoted = typeof value === 'string' ? `'${value}'` : String(value)
  const shown = isInstance ? `an instance of ${value.constructor.name}` : `type ${typeof value} (${quoted})`
  const error = new TypeError(`The "${name}" argument must be ${must}. Received ${shown}`)
  return Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' })
}

/** Errors that only Node's own `rm` and `cp` have. */
const refusals = {
  ERR_FS_EISDIR: ['Path is a directory', 'EISDIR'],
  ERR_FS_CP_EEXIST: ['Target already exists', 'EEXIST'],
  ERR_FS_CP_EINVAL: ['Invalid src or dest', 'EINVAL'],
  ERR_FS_CP_NON_DIR_TO_DIR: ['Cannot overwrite directory with non-directory', 'ENOTDIR'],
  ERR_FS_CP_DIR_TO_NON_DIR: ['Cannot overwrite non-directory with directory', 'EISDIR'],
} as const

export function systemError(code: keyof typeof refusals, syscall: string, path: string, says: string): Error {
  const [words, native] = refusals[code]
  const error = new Error(`${words}: ${syscall} returned ${native} (${says}) ${path}`)
  error.name = 'SystemError'
  return Object.assign(error, { code, errno: known[native][0], syscall, path })
}

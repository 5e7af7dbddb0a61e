export const errorWords: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EBUSY: 'Device or resource busy',
  EDQUOT: 'Disk quota exceeded',
  EEXIST: 'File exists',
  EFBIG: 'File too large',
  EINTR: 'Interrupted system call',
  EINVAL: 'Invalid argument',
  EIO: 'Input/output error',
  EISDIR: 'Is a directory',
  ELOOP: 'Too many levels of symbolic links',
  ENAMETOOLONG: 'File name too long',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  ENOTSUP: 'Operation not supported',
  ENXIO: 'No such device or address',
  EPERM: 'Operation not permitted',
  EROFS: 'Read-only file system',
  ETIMEDOUT: 'Connection timed out',
}

/** An error in the form of Node's `fs`, which the interpreter checks. */
export class FileError extends Error {
  readonly code: string

  /** @param rule the workspace's rule that refuses the call */
  constructor(code: string, call: string, path: string, rule?: string) {
    const by = rule === undefined ? '' : ` by the rule ${rule.replace(/['\n]/g, '')}`
    super(`${code}: ${(errorWords[code] ?? 'input/output error').toLowerCase()}${by}, ${call} '${path}'`)
    this.name = 'FileError'
    this.code = code
  }
}

/** True for messages that begin with a system code, as errors of files do. */
export function isFileError(error: unknown): error is Error {
  return error instanceof Error && /^E[A-Z]+:/.test(error.message)
}

/** The code of any error; `EIO` if the error has no code. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'EIO'
  if ('code' in error && typeof error.code === 'string') return error.code
  const [, code] = /^(E[A-Z]+):/.exec('message' in error ? String(error.message) : '') ?? []
  return code ?? 'EIO'
}

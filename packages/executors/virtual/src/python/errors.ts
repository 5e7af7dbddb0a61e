import { codeOf } from '@ws/shell-tools/files'

/** The error numbers of this build of CPython. They are those of WASI, not those of Linux. */
const numbers: Readonly<Record<string, number>> = {
  EACCES: 2,
  EBADF: 8,
  EBUSY: 10,
  EDQUOT: 19,
  EEXIST: 20,
  EFBIG: 22,
  EILSEQ: 25,
  EINTR: 27,
  EINVAL: 28,
  EIO: 29,
  EISDIR: 31,
  ELOOP: 32,
  EMFILE: 33,
  ENAMETOOLONG: 37,
  ENOENT: 44,
  ENOMEM: 48,
  ENOSPC: 51,
  ENOSYS: 52,
  ENOTDIR: 54,
  ENOTEMPTY: 55,
  ENOTTY: 59,
  ENXIO: 60,
  EPERM: 63,
  ERANGE: 68,
  EROFS: 69,
  ESPIPE: 70,
  ENOTSUP: 138,
}

/** A system call that fails. */
export class CallError extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/** The number of an error of a system call. Other errors are thrown again, and end the interpreter. */
export function numberOf(error: unknown): number {
  if (!(error instanceof Error) || !('code' in error) || error instanceof RangeError) throw error
  return numbers[codeOf(error)] ?? numbers.EIO ?? 0
}

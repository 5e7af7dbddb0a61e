/**
 * Top-level names that real programs need from the system: with a mount at `/` nothing is made there (`EBUSY`).
 * A mount with such an entry gets no executor of real programs.
 */
export const systemNames = [
  'bin',
  'dev',
  'etc',
  'lib',
  'lib32',
  'lib64',
  'libx32',
  'proc',
  'run',
  'sbin',
  'sys',
  'usr',
] as const

export const scratchName = 'tmp'

/**
 * Top-level names that real programs need from the system when a mount lies at `/`. Nothing is made there: `EBUSY`.
 * Where the mount has such an entry, no executor of real programs is chosen.
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

/** Where a workspace's own scratch directory is. */
export const scratchName = 'tmp'

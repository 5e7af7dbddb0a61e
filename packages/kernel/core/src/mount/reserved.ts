/**
 * Top-level names that real programs need from the system when a mount lies at `/`. An executor of such programs is not
 * chosen where the mount has an entry of these names, and with one, nothing is made there: `EBUSY`.
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

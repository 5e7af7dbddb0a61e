/**
 * Top-level names that commands need from the system when a mount lies at `/`. Reading them through the file API is
 * `ENOENT`, writing is `EBUSY`, and they are not listed: neither door shows the workspace's own entries of these names.
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

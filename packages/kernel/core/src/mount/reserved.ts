/**
 * Top-level names that real programs need from the system. In a mount at `/`, creating an entry with such a name is `EBUSY`.
 * If the mount already has such an entry, the workspace has no executor of real programs.
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

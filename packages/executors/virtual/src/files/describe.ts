import type { FileType, Stat } from '@ws/core'
import type { FsStat } from 'just-bash'

const unknownModes: Record<FileType, number> = { file: 0o644, directory: 0o755, symlink: 0o777, other: 0o644 }

export const mayRead = 0o400
export const mayWrite = 0o200

/** True if the mode grants the right, or is unknown. */
export function allows({ mode }: Stat, right: number): boolean {
  return mode === undefined || (mode & right) !== 0
}

/** Kernel codes for codes that only the workspace has. */
export const shellCodes: Readonly<Record<string, string>> = {
  EBACKEND: 'EIO',
  ECLOSED: 'EIO',
  ECONFLICT: 'EEXIST',
  ENOWORKSPACE: 'ENOENT',
  EOUTSIDE: 'ENOENT',
}

export function toFsStat({ type, size, mode, modifiedAt }: Stat): FsStat {
  return {
    isFile: type === 'file',
    isDirectory: type === 'directory',
    isSymbolicLink: type === 'symlink',
    mode: mode ?? unknownModes[type],
    size,
    mtime: new Date(modifiedAt ?? 0),
  }
}

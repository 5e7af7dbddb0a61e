import type { Listing } from '@ws/shell-tools'
import type { IFileSystem } from 'just-bash'

/** The methods of just-bash's file system that do I/O. */
const bashMethods = [
  'readFile',
  'readFileBytes',
  'readFileBuffer',
  'writeFile',
  'appendFile',
  'exists',
  'stat',
  'lstat',
  'mkdir',
  'readdir',
  'readdirWithFileTypes',
  'rm',
  'cp',
  'mv',
  'chmod',
  'symlink',
  'link',
  'readlink',
  'realpath',
  'utimes',
] as const satisfies readonly (keyof IFileSystem)[]

/** File methods that the interpreter may call on the workspace. */
export const fileMethods = [...bashMethods, 'readdirWithStats', 'hasEntry'] as const

export type FileMethod = (typeof fileMethods)[number]

/** The part of just-bash's file system that does I/O. */
export type AsyncFiles = Required<Pick<IFileSystem, (typeof bashMethods)[number]>>

export interface WorkspaceAsyncFiles extends AsyncFiles, Pick<Listing, 'readdirWithStats'> {
  hasEntry(path: string): Promise<boolean>
}

export type DirentEntry = Awaited<ReturnType<AsyncFiles['readdirWithFileTypes']>>[number]

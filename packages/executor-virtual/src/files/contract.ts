import type { IFileSystem } from 'just-bash'

/** Methods that the interpreter may call on the workspace: the file door is asked for each. */
export const fileMethods = [
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

export type FileMethod = (typeof fileMethods)[number]

/** The part of just-bash's file system that does I/O. */
export type AsyncFiles = Required<Pick<IFileSystem, FileMethod>>

export type DirentEntry = Awaited<ReturnType<AsyncFiles['readdirWithFileTypes']>>[number]

import { isWorkspaceError, paths, type FileDoor, type VirtualPath, type WorkspaceError } from '@ws/core'

/** Limit of names that are tried for one version. */
const attempts = 100

/** True for an error that another change of the workspace may explain. */
export function isConflict(error: unknown): error is WorkspaceError {
  return isWorkspaceError(error) && ['ECONFLICT', 'EEXIST', 'ENOENT', 'EISDIR', 'ENOTDIR'].includes(error.code)
}

export const conflictReason = (place: string): string =>
  `was changed in the workspace meanwhile; the machine’s version is \`${place}\``

/** Makes an entry under a free name beside a path. Returns the name. */
export async function makeBeside(
  files: FileDoor,
  path: string,
  make: (free: string) => Promise<unknown>,
): Promise<string> {
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/gu, '')
  for (let attempt = 1; ; attempt += 1) {
    const free = besidePath(path, attempt === 1 ? stamp : `${stamp}-${attempt}`)
    try {
      if (await files.exists(free)) continue
      await make(free)
      return free
    } catch (error) {
      if (attempt >= attempts || !isConflict(error)) throw error
    }
  }
}

/** Returns `name.conflict-<word>.ext`, in at most 255 bytes. */
function besidePath(path: string, word: string): string {
  const name = paths.baseName(path as VirtualPath)
  const dot = name.lastIndexOf('.')
  const [stem, extension] = dot > 0 && name.length - dot < 32 ? [name.slice(0, dot), name.slice(dot)] : [name, '']
  const mark = `.conflict-${word}${extension}`
  let kept = stem
  while (Buffer.byteLength(kept) + Buffer.byteLength(mark) > 255) kept = [...kept].slice(0, -1).join('')
  return paths.child(paths.parent(path as VirtualPath), kept + mark)
}

/** The highest ancestor that is no directory. */
export async function findBlocker(files: FileDoor, path: string, root: string): Promise<string | undefined> {
  for (let end = path.indexOf('/', root.length + 1); end !== -1; end = path.indexOf('/', end + 1)) {
    const { type } = await files.stat(path.slice(0, end))
    if (type !== 'directory') return path.slice(0, end)
  }
  return undefined
}

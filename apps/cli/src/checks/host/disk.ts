import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Everything below a host directory, as paths with a slash in front; links are not followed. */
export async function diskTree(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries.map((entry) => join(entry.parentPath, entry.name).slice(directory.length))
}

export async function diskNames(directory: string): Promise<string[]> {
  return await readdir(directory)
}

/** Names, kinds, permissions and content of everything below: equal when nothing was changed. */
export async function diskState(directory: string): Promise<Record<string, string>> {
  const state: Record<string, string> = {}
  for (const path of ['', ...(await diskTree(directory)).sort()]) {
    const stat = await lstat(directory + path)
    const kind = stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'file'
    let content = ''
    if (kind === 'file') content = await readFile(directory + path, 'utf8')
    if (kind === 'link') content = await readlink(directory + path)
    state[path] = `${kind} ${(stat.mode & 0o7777).toString(8)} ${content}`
  }
  return state
}

/** Permissions and times of change of everything below. */
export async function diskDetails(directory: string): Promise<string> {
  const lines = []
  for (const path of ['', ...(await diskTree(directory)).sort()]) {
    const { mode, mtimeMs } = await lstat(directory + path)
    lines.push(`${path} ${(mode & 0o7777).toString(8)} ${mtimeMs}`)
  }
  return lines.join('\n')
}

/** The uid of an entry's owner. */
export async function diskOwner(path: string): Promise<number> {
  return (await lstat(path)).uid
}

export async function diskText(path: string): Promise<string> {
  return await readFile(path, 'utf8')
}

import { clocks } from '../calls/audit.ts'
import { above, type EncodingOptions, encodingOf, type PathArgument, pathOf, shaped } from './arguments.ts'
import type { Caller } from './caller.ts'
import { Dirent } from './stats.ts'

export interface ReaddirOptions extends EncodingOptions {
  readonly withFileTypes?: boolean | undefined
  readonly recursive?: boolean | undefined
}

export interface MkdirOptions {
  readonly recursive?: boolean | undefined
  readonly mode?: number | undefined
}

export async function readDirectory(
  caller: Caller,
  directory: PathArgument,
  options: ReaddirOptions | string | null | undefined,
): Promise<string[] | Uint8Array[] | Dirent[]> {
  const { withFileTypes = false, recursive = false } = typeof options === 'string' ? {} : (options ?? {})
  const encoding = encodingOf(options)
  return await caller.call('scandir', directory, async (path) => {
    const top = await caller.workspace.realPath(path)
    const names: string[] = []
    const entries: Dirent[] = []
    for await (const { path: at, name, type } of caller.workspace.list(path, { recursive })) {
      const below = at.slice(top === '/' ? 1 : top.length + 1)
      names.push(below)
      const parent = below === name ? path : `${path.replace(/\/$/u, '')}/${above(below)}`
      entries.push(new Dirent(type, name, parent))
    }
    if (withFileTypes) return entries
    if (encoding !== 'buffer') return names
    return names.map((name) => shaped(new TextEncoder().encode(name), undefined) as Uint8Array)
  })
}

/** With `recursive`, returns the first directory that was created. */
export async function makeDirectory(
  caller: Caller,
  directory: PathArgument,
  options: MkdirOptions | number | null | undefined,
): Promise<string | undefined> {
  const { recursive = false, mode } = typeof options === 'number' ? { mode: options } : (options ?? {})
  return await caller.call('mkdir', directory, async (path) => {
    let first: string | undefined
    for (let at = path; recursive && (await caller.statIf(at)) === undefined; at = above(at)) first = at
    await caller.workspace.createDirectory(path, { recursive })
    if (mode !== undefined) await caller.workspace.chmod(path, mode & 0o777)
    return first
  })
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
/** Maximum number of names to try for one directory. */
const mostTries = 100

export async function makeTemporaryDirectory(caller: Caller, prefix: PathArgument): Promise<string> {
  const start = pathOf(prefix, 'mkdtemp')
  const random = clocks.get(caller.workspace)?.random ?? Math.random
  for (let tries = 1; ; tries += 1) {
    const name = Array.from({ length: 6 }, () => letters[Math.floor(random() * letters.length)]).join('')
    try {
      return await caller.call('mkdtemp', start + name, async (path) => {
        await caller.workspace.createDirectory(path, { recursive: false })
        return path
      })
    } catch (error) {
      if (tries === mostTries || (error as { readonly code?: unknown }).code !== 'EEXIST') throw error
    }
  }
}

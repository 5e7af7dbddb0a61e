import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'

import type { Settings } from './settings.ts'

/** Files that commands can write and that have further names outside the mounts. A write also changes the file under those names. */
export interface SharedFiles {
  readonly files: number
  readonly examples: readonly string[]
  /** False if the tree was too large for a complete search. */
  readonly complete: boolean
}

const mostEntries = 200_000

/** Counts files in this machine's mounts that have names outside of the mounts. */
export async function findSharedFiles({ mounts }: Pick<Settings, 'mounts'>, signal: AbortSignal): Promise<SharedFiles> {
  const known = new Map<string, { readonly path: string; rest: number }>()
  let entries = 0
  for (const { at, storage, access } of mounts) {
    if (storage.kind !== 'local' || access === 'read-only') continue
    const waiting = [{ host: storage.root, path: at === '/' ? '' : at }]
    for (let next = waiting.pop(); next !== undefined && entries < mostEntries; next = waiting.pop()) {
      signal.throwIfAborted()
      await turn()
      for (const name of namesIn(next.host)) {
        const [host, path] = [join(next.host, name), `${next.path}/${name}`]
        const found = statusOf(host)
        entries += 1
        if (found?.isDirectory()) waiting.push({ host, path })
        if (!found?.isFile() || found.nlink < 2) continue
        const inode = `${found.dev} ${found.ino}`
        const { path: first, rest } = known.get(inode) ?? { path, rest: found.nlink }
        known.set(inode, { path: first, rest: rest - 1 })
      }
    }
  }
  const shared = [...known.values()].filter(({ rest }) => rest > 0).map(({ path }) => path)
  return { files: shared.length, examples: shared.toSorted().slice(0, 3), complete: entries < mostEntries }
}

const namesIn = (path: string): string[] => orNothing(() => readdirSync(path)) ?? []
const statusOf = (path: string): Stats | undefined => orNothing(() => lstatSync(path))

export function orNothing<Result>(ask: () => Result): Result | undefined {
  try {
    return ask()
  } catch {
    return undefined // the caller treats an unreadable entry as missing
  }
}

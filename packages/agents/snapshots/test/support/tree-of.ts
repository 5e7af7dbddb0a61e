import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

import type { Workspace } from '@ws/core'

/** Type and text of each entry that calls can reach, by path. */
export async function storeTreeOf(workspace: Workspace): Promise<Record<string, string>> {
  const entries = await Array.fromAsync(workspace.list('/', { recursive: true }))
  const found = entries.map(async ({ path, type }) => {
    return [path, `${type} ${type === 'file' ? await workspace.readText(path) : ''}`] as const
  })
  return Object.fromEntries((await Promise.all(found)).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Everything of a directory that a restore brings back, by path: kind, bits, owner, time, bytes, target, and its hard links. */
export function treeOf(root: string): Record<string, string> {
  const found: Record<string, string> = {}
  const links = new Map<number, string[]>()
  const visit = (directory: string, path: string): void => {
    for (const name of readdirSync(directory).sort()) {
      const place = join(directory, name)
      const status = lstatSync(place)
      const at = `${path}/${name}`
      const time = Math.round(status.mtimeMs * 100) / 100
      const facts = `${(status.mode & 0o7777).toString(8)} ${status.uid}:${status.gid} ${time}`
      if (status.isDirectory()) {
        found[at] = `directory ${facts}`
        visit(place, at)
      } else if (status.isSymbolicLink()) {
        found[at] = `link to ${readlinkSync(place)} ${time}`
      } else if (status.isFile()) {
        const hash = createHash('sha256').update(readFileSync(place)).digest('hex').slice(0, 16)
        found[at] = `file ${facts} ${status.size} ${hash}`
        if (status.nlink > 1) links.set(status.ino, [...(links.get(status.ino) ?? []), at])
      }
    }
  }
  visit(root, '')
  for (const group of links.values()) for (const path of group) found[path] += ` linked ${group.join(' ')}`
  return found
}

import { mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { randomFrom } from './child/workload.ts'

export interface Change {
  readonly kind: 'mkdir' | 'write' | 'rename' | 'rm' | 'rmdir'
  readonly path: string
  readonly to?: string
  readonly content?: string
  /** Milliseconds before the next change. */
  readonly pause: number
}

const pauses = [0, 0, 0, 0, 5, 200, 1_100]

/** Changes of a tree that begins as `tree`, which is kept up to date: files have a content, directories none. */
export function changesFrom(seed: number, count: number, tree: Map<string, string | undefined>): Change[] {
  const random = randomFrom(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const changes: Change[] = []
  const paths = (isFile: boolean) =>
    [...tree].filter(([, text]) => (text !== undefined) === isFile).map(([path]) => path)
  const below = (path: string) => [...tree.keys()].filter((one) => one.startsWith(`${path}/`))
  const free = (names: readonly string[], notBelow = '\0'): string | undefined => {
    const places = ['', ...paths(false)].filter(
      (one) => one.split('/').length < 4 && !`${one}/`.startsWith(`${notBelow}/`),
    )
    const path = join(pick(places), pick(names))
    return tree.has(path) ? undefined : path
  }
  const move = (from: string, to: string): void => {
    for (const one of [from, ...below(from)]) {
      tree.set(to + one.slice(from.length), tree.get(one))
      tree.delete(one)
    }
  }
  while (changes.length < count) {
    const pause = pick(pauses)
    const kind = pick([
      'mkdir',
      'write',
      'write',
      'replace',
      'replace',
      'file',
      'file',
      'directory',
      'directory',
      'rm',
      'rm -r',
      'rmdir',
    ] as const)
    const content = `${seed}-${changes.length}-${'x'.repeat(Math.floor(random() * 3))}`
    const [files, directories] = [paths(true), paths(false)]
    if (kind === 'mkdir') {
      const path = free(['a', 'b', 'c', 's'])
      if (path === undefined) continue
      tree.set(path, undefined)
      changes.push({ kind, path, pause })
    } else if (kind === 'write' || kind === 'replace') {
      const path = kind === 'write' ? free(['f', 'g', 'h']) : pick(files)
      if (path === undefined) continue
      tree.set(path, content)
      changes.push({ kind: 'write', path, content, pause })
    } else if (kind === 'file') {
      const path = pick(files)
      const to = random() < 0.4 ? pick(files) : free(['f', 'g', 'h'])
      if (path === undefined || to === undefined || path === to) continue
      move(path, to)
      changes.push({ kind: 'rename', path, to, pause })
    } else if (kind === 'directory') {
      const path = pick(directories)
      if (path === undefined) continue
      const to = free(['a', 'b', 'c', 's'], path)
      if (to === undefined) continue
      move(path, to)
      changes.push({ kind: 'rename', path, to, pause })
    } else if (kind === 'rm') {
      const path = pick(files)
      if (path === undefined) continue
      tree.delete(path)
      changes.push({ kind: 'rm', path, pause })
    } else {
      const path = pick(directories)
      if (path === undefined || (kind === 'rmdir' && below(path).length > 0) || (kind === 'rm -r' && random() < 0.6))
        continue
      for (const one of [path, ...below(path)]) tree.delete(one)
      changes.push({ kind: kind === 'rmdir' ? 'rmdir' : 'rm', path, pause })
    }
  }
  return changes
}

/** Makes the changes below a directory. */
export async function apply(root: string, changes: readonly Change[], { pauses: waits }: { readonly pauses: boolean }) {
  for (const { kind, path, to = '', content = '', pause } of changes) {
    const place = join(root, path)
    if (kind === 'mkdir') await mkdir(place)
    else if (kind === 'write') await writeFile(place, content)
    else if (kind === 'rename') await rename(place, join(root, to))
    else if (kind === 'rmdir') await rmdir(place)
    else await rm(place, { recursive: true })
    if (waits && pause > 0) await delay(pause)
  }
}

/** As commands of a shell, with the pauses after them. */
export function show(changes: readonly Change[]): string {
  return changes
    .map(({ kind, path, to, content, pause }) =>
      [
        kind === 'write' ? `echo ${content} >` : kind === 'rename' ? 'mv' : kind,
        path,
        to,
        pause > 0 ? `(${pause})` : '',
      ]
        .filter(Boolean)
        .join(' '),
    )
    .join('; ')
}

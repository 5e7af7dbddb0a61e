import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import type { Item } from './item.ts'
import type { Places } from './places.ts'
import type { FollowedPart, StoredPart } from './stored.ts'

/** Most names that a search for moved files examines. */
const mostNames = 20_000

/** Milliseconds after the start of an upload; after that, a scan proves nothing about a file whose upload has ended. */
const longMs = 200

/** Scans the mount for files. Messages report all changes from now on, and win over the scan. */
export async function lookFor(places: Places, part: FollowedPart): Promise<void> {
  const { root, catchUp } = part
  const { told } = places
  const begun = places.renamed.length
  const unsure = [...places.items].flatMap(([name, item]) =>
    item.isSure || item.place === undefined ? [] : [{ item, names: [name, ...places.renames.later(name)] }],
  )
  const parents = unsure.flatMap(({ names }) => names.map((name) => dirname(name)))
  const below = [...parents, ...places.renames.earlierDirectories()]
  // the kernel answers for the parent of a directory once its rename has ended
  const directories = new Set([...below.map((one) => dirname(one)), ...below])
  const seen = new Set<string>()
  for (const directory of directories) {
    const entries = await entriesOf(join(root, directory))
    if (entries !== undefined) seen.add(directory)
    for (const { name } of entries ?? []) seen.add(join(directory, name))
  }
  await catchUp()
  const isOther = (name: string) =>
    places.renamed.slice(begun).some((one) => name === one || name.startsWith(`${one}/`))
  const tell = (name: string, isThere: boolean): unknown => told.has(name) || told.set(name, isThere)
  for (const directory of directories) if (!isOther(directory)) tell(directory, seen.has(directory))
  const lost: Item[] = []
  for (const { item, names } of unsure) {
    if (names.some(isOther)) continue
    // an upload that ends can hide a file for a moment, or show a removed file again
    const isLate = Date.now() > item.begins
    for (const name of names) if (seen.has(name) || !isLate) tell(name, seen.has(name))
    if (isLate && !names.some((name) => told.get(name))) continue
    if (item.key !== undefined && Date.now() > item.begins + longMs) continue
    const isTold = item.place !== undefined && !names.includes(item.place) && told.get(item.place) === true
    const [place, ...others] = isTold ? [item.place] : names.filter((one) => told.get(one))
    if (place === undefined) lost.push(item)
    item.isSure = place !== undefined && others.length === 0
    item.place = item.isSure ? place : undefined
  }
  if (unsure.some(({ names }) => names.some(isOther))) await lookFor(places, part)
  if (lost.length === 0) return
  // the file replaces an older file at its new name
  const rewritten = [...places.items.values()].filter(({ isRewritten }) => isRewritten)
  for (const item of [...lost, ...rewritten]) item.order = places.nextOrder()
  for (const item of lost) item.isLost = true
  for await (const name of leavesBelow(root, '')) if (seen.add(name).size > mostNames) break
  await catchUp()
  for (const name of seen) if (!isOther(name)) tell(name, true)
}

/** Makes rclone log which names programs can see, and which names have gone. */
export async function tellOfNames({ control }: Pick<StoredPart, 'control'>, on: boolean): Promise<void> {
  await control.call('options/set', { main: { LogLevel: on ? 'DEBUG' : 'INFO' } })
}

/** Yields files and empty directories; directories have a slash at their end. */
export async function* leavesBelow(root: string, directory: string): AsyncGenerator<string> {
  const entries = await entriesOf(join(root, directory))
  if (entries?.length === 0) yield directory
  for (const entry of entries ?? []) {
    const name = join(directory, entry.name)
    if (entry.isDirectory()) yield* leavesBelow(root, `${name}/`)
    else yield name
  }
}

/** `undefined`: there is no directory. */
async function entriesOf(directory: string): Promise<readonly Dirent[] | undefined> {
  return await readdir(directory, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
}

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, vi } from 'vitest'

import { RenamedDirectories } from '../src/cache/renamed.ts'
import { site } from './stale-site.ts'

/** No upload begins while a test looks at the mount. */
export const longBefore = Date.now() + 600_000

/** A mount whose directory `a` becomes `b`, before these files of it are uploaded. */
export async function renamedSite(names: readonly string[]) {
  const { part, staleNames, store, hold, ...rest } = await site()
  const cache = part.root
  const root = join(cache, 'mount')
  const catchUp = vi.fn(async () => {})
  const start = (): RenamedDirectories => {
    const one = new RenamedDirectories(staleNames, cache)
    one.part = { ...part, root, catchUp, attributeCache: 1 }
    return one
  }
  const renamed = start()
  await mkdir(join(root, 'b'), { recursive: true })
  const put = (name: string) => writeFile(join(root, name), 'as programs see it')
  for (const name of names) await put(`b/${name}`)
  const refused = async (one = renamed): Promise<readonly string[]> => [
    ...(await one.settled(undefined)),
    ...(await one.lost(undefined)),
  ]
  return {
    ...{ renamed, staleNames, root, store, hold, put, start, refused, ...rest },
    remove: (name: string) => rm(join(root, name)),
    /** `between`: messages of other renames that run at the same time. */
    rename(between = (): void => {}): void {
      for (const name of names) {
        renamed.noteQueue(`a/${name}`, longBefore)
        renamed.noteRename(`a/${name}`, `b/${name}`, longBefore)
      }
      between()
      renamed.noteDirectory('a/', 'b/')
    },
    looked: () => vi.waitFor(() => expect(catchUp).toHaveResolved(), { timeout: 30_000 }),
    /** A program renames a file: rclone does that, and writes messages. */
    async move(from: string, to: string): Promise<void> {
      renamed.noteMoving('b', from.replace('b/', ''), to)
      renamed.noteChanged('b', true)
      await rm(join(root, from))
      await put(to)
    },
    async delete(name: string): Promise<void> {
      renamed.places.noteRemoving('b', name.replace('b/', ''))
      renamed.noteChanged('b', true)
      await rm(join(root, name))
    },
    /** rclone uploads a file of its cache, and shows it where it is. */
    async upload(name: string, shown: string | undefined, under?: string): Promise<void> {
      await hold(name, `text of ${name}`)
      store(under ?? name, `text of ${name}`)
      renamed.noteStored(name, under)
      renamed.noteEnding(name)
      if (shown !== undefined) renamed.noteShown(shown)
      renamed.noteEnd(name, false, 3_000)
    },
  }
}

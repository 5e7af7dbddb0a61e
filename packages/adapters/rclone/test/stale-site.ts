import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { StaleNames } from '../src/cache/stale-names.ts'
import { fakeControl } from './fake-control.ts'
import { scratch } from './support.ts'

/** Milliseconds from the close of a file to its upload. */
const writeBackDelay = 100

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

/** A cache, and a store that knows of each object its text and time. */
export async function site() {
  const cache = await scratch()
  const metadata = join(cache, 'vfsMeta')
  const content = join(cache, 'vfs')
  await mkdir(metadata)
  await mkdir(content)
  const stored = new Map<string, { text: string; time: number }>()
  const { control } = await fakeControl((command, { remote, srcRemote, dstRemote }) => {
    if (command === 'operations/stat') {
      const found = stored.get(String(remote))
      const item = found && { Hashes: { md5: md5(found.text) }, ModTime: new Date(found.time).toISOString() }
      return { item: item ?? null }
    }
    if (command === 'operations/deletefile') stored.delete(String(remote))
    const moved = command === 'operations/movefile' ? stored.get(String(srcRemote)) : undefined
    if (moved !== undefined) stored.set(String(dstRemote), moved)
    if (moved !== undefined) stored.delete(String(srcRemote))
    if (command === 'operations/copyfile') {
      stored.set(String(dstRemote), { text: `copy of ${String(srcRemote)}`, time: Date.now() })
    }
    return {}
  })
  const part = { control, fs: 'store:', metadata, content, root: cache }
  return {
    part,
    stored,
    staleNames: new StaleNames(cache, writeBackDelay),
    settle: (staleNames: StaleNames, pause: () => void = () => {}) => staleNames.settle(part, async () => pause()),
    /** The note that a late upload writes of a file that has gone. */
    note: (name: string) => writeFile(join(metadata, name), '{}'),
    texts: () => Object.fromEntries([...stored].map(([name, { text }]) => [name, text])),
    again: () => new StaleNames(cache, writeBackDelay),
    store: (name: string, text: string, time = Date.now()) => void stored.set(name, { text, time }),
    /** Has the cache hold a file that it says is uploaded. */
    async hold(name: string, text: string): Promise<void> {
      for (const directory of [content, metadata]) await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(content, name), text)
      const info = {
        ModTime: '2026-01-01T00:00:00.5Z',
        Size: text.length,
        Rs: [{ Pos: 0, Size: text.length }],
        Fingerprint: `${text.length},${md5(text)}`,
        Dirty: false,
      }
      await writeFile(join(metadata, name), JSON.stringify(info))
    },
  }
}

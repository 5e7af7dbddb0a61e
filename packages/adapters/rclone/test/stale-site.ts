import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
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
  const mount = { forget: async () => {} }
  const { control, asked } = await fakeControl(async (command, { remote, srcRemote, dstRemote }) => {
    if (command === 'operations/stat') {
      const found = stored.get(String(remote))
      const item = found && { Hashes: { md5: md5(found.text) }, ModTime: new Date(found.time).toISOString() }
      return { item: item ?? null }
    }
    if (command === 'vfs/forget') await mount.forget()
    if (command === 'operations/deletefile') stored.delete(String(remote))
    if (command === 'operations/list') {
      const below = [...stored].filter(([name]) => name.startsWith(`${String(remote)}/`))
      return {
        list: below.map(([Path, { text, time }]) => ({
          Path,
          Hashes: { md5: md5(text) },
          ModTime: new Date(time).toISOString(),
        })),
      }
    }
    if (command === 'operations/copyfile') {
      const isSame = srcRemote === dstRemote
      const text = isSame ? `copy of ${String(srcRemote)}` : await readFile(join(content, String(srcRemote)), 'utf8')
      stored.set(String(dstRemote), { text, time: Date.now() })
    }
    return {}
  })
  const part = { control, fs: 'store:', metadata, content, root: cache }
  return {
    part,
    mount,
    asked,
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

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'

import { expect, it } from 'vitest'

import { DirtyFiles } from '../src/cache/dirty.ts'
import { type BarrierOptions, flushBarrier } from '../src/mount/barrier.ts'
import { MountLog } from '../src/mount/log.ts'
import { fakeControl } from './fake-control.ts'
import { failureOf, scratch } from './support.ts'

async function say(root: string, path: string, dirty: boolean): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true })
  const content = {
    ModTime: '2026-01-01T00:00:00.5Z',
    Size: 1,
    Rs: [{ Pos: 0, Size: 1 }],
    Fingerprint: '',
    Dirty: dirty,
  }
  await writeFile(join(root, path), JSON.stringify(content))
}

const nothing = (): void => undefined
const deaf = {
  onUploadFailure: nothing,
  onQueue: nothing,
  onUploadEnd: nothing,
  onRename: nothing,
  onDirectoryRename: nothing,
  onDelete: nothing,
  onStored: nothing,
  onCopied: nothing,
  onEnding: nothing,
  onShown: nothing,
  onMaking: nothing,
  onRemoving: nothing,
  onMoving: nothing,
  onChanged: nothing,
}

/** A flush of the whole mount, whose notes lie below `root`. */
function optionsOf(root: string, control: BarrierOptions['control']): BarrierOptions {
  const [dirty, dirtyInMount] = [new DirtyFiles(root), new DirtyFiles(root)]
  const log = new MountLog(new PassThrough(), deaf)
  return { control, log, dirty, dirtyInMount, queue: false, timeout: 60_000, signal: undefined }
}

it('has what waits uploaded at once where the version can be told to', async () => {
  const root = await scratch()
  await say(root, 'dir/a', true)
  let queued = 1
  const { control, asked } = await fakeControl(async (command) => {
    if (command === 'vfs/stats') return { diskCache: { uploadsQueued: queued, uploadsInProgress: 0 } }
    if (command === 'vfs/queue') return { queue: [{ id: 7, name: 'dir/a', expiry: 3600, uploading: false }] }
    await say(root, 'dir/a', false)
    queued = 0
    return {}
  })
  const options = { ...optionsOf(root, control), timeout: 5_000 }
  await flushBarrier({ ...options, queue: true })
  expect(asked).toContain('vfs/queue-set-expiry')
})

it('a file that stays dirty keeps a flush from succeeding, whatever the queue says', async () => {
  const root = await scratch()
  await say(root, 'dir/a', true)
  const { control } = await fakeControl(() => ({ diskCache: { uploadsQueued: 0, uploadsInProgress: 0 } }))
  expect(await failureOf(flushBarrier(optionsOf(root, control)))).toMatchObject({ code: 'EBUSY', path: '/dir/a' })
})

it('[RP14] an upload that the cache keeps quiet about keeps a flush waiting', async () => {
  const root = await scratch()
  await say(root, 'dir/a', false)
  let waiting = 3
  const { control } = await fakeControl(() => {
    waiting -= 1
    return { diskCache: { uploadsQueued: 0, uploadsInProgress: waiting } }
  })
  await flushBarrier(optionsOf(root, control))
  expect(waiting).toBe(0)
})

it('[RP14] uploads of other parts of the mount keep nobody waiting', async () => {
  const root = await scratch()
  await say(root, 'mine/a', false)
  await say(root, 'theirs/b', true)
  const { control } = await fakeControl(() => ({ diskCache: { uploadsQueued: 1, uploadsInProgress: 0 } }))
  await flushBarrier({ ...optionsOf(root, control), dirty: new DirtyFiles(join(root, 'mine')) })
})

it('what the cache says that cannot be read is not said to be safe', async () => {
  const root = await scratch()
  await writeFile(join(root, 'a'), '{"Dir')
  expect(await new DirtyFiles(root).first()).toBe('/a')
  await say(root, 'a', false)
  expect(await new DirtyFiles(root).first()).toBeUndefined()
})

it('[RP14] the note of a file under construction keeps no flush waiting: a full disk cuts it, and leaves it behind', async () => {
  const root = await scratch()
  await writeFile(join(root, '.ws-tmp-1-2-3-x'), '')
  const { control } = await fakeControl(() => ({ diskCache: { uploadsQueued: 0, uploadsInProgress: 0 } }))
  const options = optionsOf(root, control)
  await flushBarrier({ ...options, dirty: new DirtyFiles(root, { unfinished: false }) })
  expect(await failureOf(flushBarrier(options))).toMatchObject({ code: 'EBUSY' })
})

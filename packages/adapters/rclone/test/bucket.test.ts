import { watch } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { describeWith } from '@ws/test-fixtures'
import { expect, it, onTestFinished, vi } from 'vitest'

import { openRcloneBucket } from '../src/index.ts'
import {
  at,
  failureOf,
  mountNeeds,
  mountsBelow,
  openStore,
  optionsFor,
  processesNaming,
  rcloneOf,
  readText,
  scratch,
  write,
} from './support.ts'

async function openBucket(more: object = {}) {
  const store = await openStore()
  const directory = await scratch()
  const bucket = await openRcloneBucket({ ...optionsFor(store, directory), prefix: '', ...more })
  onTestFinished(() => bucket.close().catch(() => undefined))
  return { bucket, store, directory }
}

describeWith(mountNeeds, 'one mount for many', () => {
  it('[RP6, PC18] each adapter sees its own part only, and flushes it', async () => {
    const { bucket, store, directory } = await openBucket({ timeouts: { writeBack: 500 } })
    const one = await bucket.adapter('threads/t1')
    const other = await bucket.adapter('threads/t12')
    await write(one, '/a', 'of one')
    await write(other, '/b', 'of the other')
    expect((await Array.fromAsync(one.list(at('/')))).map(({ path }) => path)).toEqual(['/a'])
    expect((await failureOf(one.read(at('/b')))).code).toBe('ENOENT')
    const { ancestors, path } = await one.hostDirectory(at('/'))
    expect(ancestors).not.toContain((await other.hostDirectory(at('/'))).identity)
    expect(path).toBe(one.hostPath(at('/')))
    await one.flush()
    expect(await store.get('threads/t1/a')).toBe('of one')
    expect(mountsBelow(directory)).toHaveLength(1)
    await one.close()
    expect((await failureOf(one.stat(at('/a')))).code).toBe('ECLOSED')
    expect(await readText(other, '/b')).toBe('of the other')
    await bucket.close()
    expect(await store.get('threads/t12/b')).toBe('of the other')
    expect(mountsBelow(directory)).toEqual([])
    expect(await processesNaming(directory)).toEqual([])
    expect((await readdir(join(directory, (await readdir(directory))[0] ?? ''))).sort()).toEqual(['cache', 'lock'])
  })

  it('an adapter puts nothing of its own into an empty part', async () => {
    const { bucket } = await openBucket()
    const root = (await bucket.adapter('threads/t1')).hostPath(at('/'))
    const names: (string | null)[] = []
    const watcher = watch(root, (_, name) => names.push(name))
    onTestFinished(() => watcher.close())
    await bucket.adapter('threads/t1')
    await mkdir(join(root, 'seen'))
    await vi.waitFor(() => expect(names).toContain('seen'))
    expect([...new Set(names)]).toEqual(['seen'])
  })

  it('an error of one part names no path of another', async () => {
    const { bucket } = await openBucket()
    const one = await bucket.adapter('threads/t1')
    const other = await bucket.adapter('threads/t2')
    await write(other, '/secret-name', 'x')
    await one.flush()
    const error = await failureOf(one.read(at('/none')))
    expect(error.message).not.toContain('threads')
    for (const prefix of ['', '/', 'a/../b', '..', 'a␊b'])
      expect((await failureOf(bucket.adapter(prefix))).code).toMatch(/E(INVAL|OUTSIDE)/)
  })

  it('all parts come back when rclone dies', async () => {
    const { bucket, store, directory } = await openBucket({ timeouts: { writeBack: 5_000 } })
    const one = await bucket.adapter('threads/t1')
    const other = await bucket.adapter('threads/t2')
    await write(one, '/dir/a', 'of one')
    await write(other, '/b', 'of the other')
    process.kill(await rcloneOf(directory), 'SIGKILL')
    await expect.poll(async () => await readText(one, '/dir/a').catch(() => ''), { timeout: 20_000 }).toBe('of one')
    expect(await readText(other, '/b')).toBe('of the other')
    await one.flush()
    expect(await store.get('threads/t1/dir/a')).toBe('of one')
  })
})

import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { createLocalAdapter } from '@ws/adapter-local'
import { describeWith } from '@ws/test-fixtures'
import { expect, it, onTestFinished, vi } from 'vitest'

import type { RcloneEvent } from '../src/options.ts'
import { startHolder } from './child/start.ts'
import {
  at,
  failureOf,
  mountNeeds,
  mountsBelow,
  open,
  openSite,
  openStore,
  optionsFor,
  processesNaming,
  rcloneOf,
  readText,
  scratch,
  stopRcloneOf,
  write,
} from './support.ts'

/** A listener, and a wait for one kind of event. */
function events() {
  const seen: RcloneEvent[] = []
  const onEvent = (event: RcloneEvent): void => void seen.push(event)
  const until = (kind: RcloneEvent['kind']) =>
    vi.waitFor(() => expect(seen.map((event) => event.kind)).toContain(kind), { timeout: 30_000, interval: 20 })
  return { seen, onEvent, until }
}

describeWith(mountNeeds, 'a mount that breaks', () => {
  it('[RP14] kill -9 of rclone loses nothing: the same cache is mounted again and uploaded', async () => {
    const { onEvent, until } = events()
    const { adapter, store, directory, root } = await openSite({
      timeouts: { writeBack: 5_000, flush: 30_000 },
      onEvent,
    })
    await write(adapter, '/dir/by-api', 'written by the API')
    await writeFile(join(root, 'by-command'), 'written by a command')
    process.kill(await rcloneOf(directory), 'SIGKILL')
    await until('lost')
    expect(await readText(adapter, '/dir/by-api')).toBe('written by the API')
    await until('recovered')
    expect(await readFile(join(root, 'by-command'), 'utf8')).toBe('written by a command')
    await adapter.flush()
    expect(await store.keys()).toEqual(['threads/t1/by-command', 'threads/t1/dir/by-api'])
    expect(await store.get('threads/t1/dir/by-api')).toBe('written by the API')
  })

  it('recovers when it is told to, where it is not to do so itself', async () => {
    const { onEvent, until } = events()
    const { adapter, directory } = await openSite({ recovery: 'manual', onEvent })
    await write(adapter, '/a', 'x')
    process.kill(await rcloneOf(directory), 'SIGKILL')
    await until('lost')
    expect(await failureOf(adapter.stat(at('/a')))).toMatchObject({ code: 'EIO', path: '/a' })
    expect((await adapter.status()).state).toBe('lost')
    await adapter.recover()
    expect(await readText(adapter, '/a')).toBe('x')
    expect((await adapter.status()).state).toBe('ready')
  })

  it('that hangs makes operations fail in time, keeps nobody else waiting, and is replaced', async () => {
    const { onEvent, until } = events()
    const { adapter, directory } = await openSite({ timeouts: { operation: 300 }, onEvent })
    await write(adapter, '/a', 'x')
    const local = await createLocalAdapter({ root: await scratch(), io: 'async' })
    onTestFinished(() => local.close())
    await stopRcloneOf(directory)
    const [first, ...waiting] = ['/a', '/b', '/c', '/d', '/e', '/f'].map((path) => failureOf(adapter.read(at(path))))
    // everything else of this process goes on: files, timers, the pool
    for (let round = 0; round < 20; round += 1) {
      await local.write(at('/file'), new Uint8Array([round]))
      expect((await local.read(at('/file'))).bytes).toEqual(new Uint8Array([round]))
    }
    expect(await first).toMatchObject({ code: 'ETIMEDOUT', operation: 'read' })
    // a call that waited until the mount was replaced is answered by the new mount
    for (const error of await Promise.all(waiting)) {
      expect(error.operation).toBe('read')
      expect(['ETIMEDOUT', 'ENOENT']).toContain(error.code)
    }
    await until('hung')
    await until('recovered')
    expect(await readText(adapter, '/a')).toBe('x')
  })

  it('that hangs for a while goes on where it is not replaced', async () => {
    const { adapter, directory } = await openSite({ timeouts: { operation: 300 }, recovery: 'manual' })
    await write(adapter, '/a', 'x')
    const rclone = await stopRcloneOf(directory)
    onTestFinished(() => {
      try {
        process.kill(rclone, 'SIGCONT')
      } catch {
        // it has ended
      }
    })
    expect((await failureOf(adapter.write(at('/b'), new Uint8Array(1)))).code).toBe('ETIMEDOUT')
    expect((await failureOf(adapter.flush())).code).toBe('ETIMEDOUT')
    expect((await failureOf(adapter.list(at('/')).next())).code).toBe('ETIMEDOUT')
    process.kill(rclone, 'SIGCONT')
    await vi.waitFor(async () => expect(await readText(adapter, '/a')).toBe('x'), { timeout: 10_000 })
    await adapter.flush()
  })

  it('closing a mount that hangs ends it', async () => {
    const { adapter, directory } = await openSite({
      timeouts: { operation: 200, writeBack: 600_000 },
      recovery: 'manual',
    })
    await write(adapter, '/a', 'x')
    await stopRcloneOf(directory)
    // not what the kernel knows already
    expect((await failureOf(adapter.stat(at('/never-asked-for')))).code).toBe('ETIMEDOUT')
    expect(await failureOf(adapter.close())).toMatchObject({ code: 'ETIMEDOUT', operation: 'close' })
    expect(mountsBelow(directory)).toEqual([])
    expect(await processesNaming(directory)).toEqual([])
  })

  it('ends with the process that made it, however that ends; its cache is uploaded by the next one', async () => {
    const store = await openStore()
    const directory = await scratch()
    const options = { ...optionsFor(store, directory), timeouts: { writeBack: 20_000 } }
    const { child, done } = startHolder(options, { '/a': 'before the end', '/dir/b': 'also before' })
    await done
    expect(mountsBelow(directory)).toHaveLength(1)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await vi.waitFor(
      async () => {
        expect(mountsBelow(directory)).toEqual([])
        expect(await processesNaming(directory)).toEqual([])
      },
      { timeout: 20_000 },
    )
    expect(await store.keys()).toEqual([])
    const again = await open({ ...options, timeouts: { writeBack: 100 } })
    expect(await readText(again, '/a')).toBe('before the end')
    await again.flush()
    expect(await store.keys()).toEqual(['threads/t1/a', 'threads/t1/dir/b'])
  })

  it('a stale mount that nobody serves is cleared, and the cache behind it used', async () => {
    const store = await openStore()
    const directory = await scratch()
    const options = { ...optionsFor(store, directory), timeouts: { writeBack: 20_000 } }
    const { child, done } = startHolder(options, { '/a': 'kept' })
    await done
    // the keepers first: they would clear the mount
    const rclone = await rcloneOf(directory)
    for (const pid of await processesNaming(directory)) if (pid !== rclone) process.kill(pid, 'SIGKILL')
    process.kill(rclone, 'SIGKILL')
    child.kill('SIGKILL')
    await vi.waitFor(async () => expect(await processesNaming(directory)).toEqual([]), { timeout: 10_000 })
    await delay(10)
    expect(mountsBelow(directory)).toHaveLength(1)
    const again = await open({ ...options, timeouts: { writeBack: 100 } })
    expect(await readText(again, '/a')).toBe('kept')
    await again.close()
    expect(await store.get('threads/t1/a')).toBe('kept')
    expect(mountsBelow(directory)).toEqual([])
  })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describeWith } from '@ws/test-fixtures'
import { expect, it, onTestFinished, vi } from 'vitest'

import { force } from '../src/mount/unmount.ts'
import { startHolder } from './child/start.ts'
import {
  at,
  failureOf,
  mountNeeds,
  mountsBelow,
  open,
  openSite,
  optionsFor,
  processesNaming,
  readText,
  scratch,
  isWaiting,
  stopRcloneOf,
  storeThatHangs,
  waitingThreads,
  write,
} from './support.ts'

describeWith(mountNeeds, 'a mount whose server does not answer', () => {
  it('is broken by force: who waits for it is woken, though rclone lives', async ({ skip }) => {
    const { root, directory } = await openSite({ recovery: 'manual' })
    const isThere = readdirSync('/sys/fs/fuse/connections').length > 0
    if (process.getuid?.() !== 0 && !isThere) skip('only root can mount fusectl, and it is not mounted here')
    await writeFile(join(root, 'f'), 'x')
    const pid = await stopRcloneOf(directory)
    onTestFinished(() => {
      try {
        process.kill(pid, 'SIGCONT')
      } catch {
        // it was killed
      }
    })
    const waiting = spawn('stat', [join(root, 'none')], { stdio: 'ignore' })
    const ended = once(waiting, 'exit')
    await vi.waitFor(() => expect(isWaiting(`/proc/${waiting.pid}`)).toBe(true))
    await force(root)
    expect((await ended)[0]).toBe(1)
    expect(readFileSync(`/proc/${pid}/stat`, 'latin1')).toContain(' T ')
  })

  it.each(['SIGKILL', 'SIGHUP'] as const)(
    '[RP14] the end of a process whose threads wait for the store (%s) ends mount and rclone, and the next start works',
    { tags: ['deep'] },
    async (signal) => {
      const { store, hang, answer } = await storeThatHangs()
      const directory = await scratch()
      const options = { ...optionsFor(store, directory), timeouts: { writeBack: 600_000, directoryCache: 1 } }
      const { child, done } = startHolder(options, { '/d/a': 'written' })
      await done
      const pid = Number(child.pid)
      hang()
      child.kill('SIGUSR2')
      await vi.waitFor(() => expect(waitingThreads(pid)).toBeGreaterThan(0), { timeout: 10_000 })
      const ended = once(child, 'exit')
      child.kill(signal) // SIGHUP has it call process.exit()
      await ended
      await vi.waitFor(
        async () => {
          expect(mountsBelow(directory)).toEqual([])
          expect(await processesNaming(directory)).toEqual([])
        },
        { timeout: 10_000 },
      )
      answer()
      const next = await open({ ...options, timeouts: { ...options.timeouts, writeBack: 100 } })
      expect(await readText(next, '/d/a')).toBe('written')
    },
  )

  const limits = { timeouts: { operation: 2_000, flush: 2_000, directoryCache: 1, attributeCache: 1 } }

  it('while one delete waits for the store, every other operation ends by its limit or its signal, and works after `recover()`', async () => {
    const { store, hang, answer } = await storeThatHangs()
    const { adapter } = await openSite(limits, store)
    await write(adapter, '/d/warm', 'x')
    await write(adapter, '/d/gone', 'x')
    await adapter.flush({ timeout: 30_000 })
    hang()
    const deleting = failureOf(adapter.delete(at('/d/gone')))
    const calls = [
      () => adapter.read(at('/d/warm')),
      () => adapter.stat(at('/d/none')),
      () => adapter.write(at('/d/new'), new Uint8Array(1)),
      () => adapter.list(at('/d')).next(),
      () => adapter.move(at('/d/warm'), at('/d/other')),
      () => adapter.createDirectory(at('/d/e/f')),
      () => adapter.flush(),
    ]
    for (const error of await Promise.all(
      calls.map((call) =>
        call().then(
          () => undefined,
          (thrown: unknown) => thrown,
        ),
      ),
    )) {
      // what needs nothing of the store may have worked
      if (error !== undefined) expect(error).toMatchObject({ code: 'ETIMEDOUT' })
    }
    expect(await deleting).toMatchObject({ code: 'ETIMEDOUT', operation: 'delete', path: '/d/gone' })

    const reason = new Error('enough')
    const controller = new AbortController()
    const aborted = [
      adapter.stat(at('/d/never'), { signal: controller.signal }),
      adapter.list(at('/e'), { signal: controller.signal }).next(),
      adapter.refresh({ signal: controller.signal }),
    ].map(async (call) => await call.catch((thrown: unknown) => thrown))
    controller.abort(reason)
    for (const call of aborted) expect([reason, undefined]).toContain(await call)
    answer()
    // at once, without waiting until rclone gives its connections up
    await adapter.recover()
    expect(await readText(adapter, '/d/warm')).toBe('x')
  }, 60_000)

  it('a store that answers slowly has more time than one that does not answer', async () => {
    const { store, setFaults } = await storeThatHangs()
    const { adapter } = await openSite(limits, store)
    await store.put('threads/t1/slow', 'came in the end')
    // only the content: the store answers everything else
    setFaults(({ operation }) => (operation === 'GetObject' ? { kind: 'delay', ms: 4_500 } : undefined))
    expect(await readText(adapter, '/slow')).toBe('came in the end')
  })

  it('closing ends in time, with rclone and the mount; the cache is uploaded by the next one', {
    tags: ['deep'],
    timeout: 30_000,
  }, async () => {
    const { store, hang, answer } = await storeThatHangs()
    const { adapter, directory, options } = await openSite(
      { timeouts: { ...limits.timeouts, writeBack: 2_000, flush: 5_000 } },
      store,
    )
    await write(adapter, '/d/gone', 'x')
    await adapter.flush({ timeout: 30_000 })
    await write(adapter, '/new', 'kept')
    hang()
    const deleting = failureOf(adapter.delete(at('/d/gone')))
    expect(await failureOf(adapter.close())).toMatchObject({ code: 'ETIMEDOUT' })
    expect(mountsBelow(directory)).toEqual([])
    await expect.poll(() => processesNaming(directory)).toEqual([])
    await deleting
    answer()
    const next = await open(options)
    expect(await readText(next, '/new')).toBe('kept')
  })
})

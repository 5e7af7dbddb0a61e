import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describeWith } from '@ws/test-fixtures'
import { startFaultProxy } from '@ws/test-fixtures/s3'
import { expect, it, onTestFinished, vi } from 'vitest'

import { force } from '../src/mount/unmount.ts'
import { startHolder } from './child/start.ts'
import {
  at,
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
  type Store,
} from './support.ts'

/** A store behind a proxy that can stop answering, connections open. */
async function storeThatHangs() {
  const store = await openStore()
  const proxy = await startFaultProxy(store.server)
  onTestFinished(() => proxy.close())
  const server = new Proxy(store.server, {
    get: (target, name) => (name === 'endpoint' ? proxy.endpoint : Reflect.get(target, name)),
  })
  return {
    store: { ...store, server } satisfies Store,
    hang: () => proxy.setFaults(() => ({ kind: 'hang', when: 'before' })),
    answer: () => proxy.setFaults(undefined),
  }
}

describeWith(mountNeeds, 'a mount whose server does not answer', () => {
  it('is broken by force: who waits for it is woken, though rclone lives', async () => {
    const { root, directory } = await openSite({ recovery: 'manual' })
    await writeFile(join(root, 'f'), 'x')
    const pid = await rcloneOf(directory)
    process.kill(pid, 'SIGSTOP')
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
    async (signal) => {
      const { store, hang, answer } = await storeThatHangs()
      const directory = await scratch()
      const options = { ...optionsFor(store, directory), writeBackMs: 600_000, directoryCacheMs: 1 }
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
      const next = await open({ ...options, writeBackMs: 100 })
      expect(await readText(next, '/d/a')).toBe('written')
    },
  )
})

/** Threads of a process that wait for an answer of FUSE. */
function waitingThreads(pid: number): number {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).filter((task) => isWaiting(`${tasks}/${task}`)).length
}

function isWaiting(task: string): boolean {
  return /fuse|request_wait/.test(readFileSync(`${task}/wchan`, 'utf8'))
}

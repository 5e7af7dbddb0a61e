/** @module-tag all */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { createRunner } from '@ws/runner'
import { createQueueStep, createStepWorker } from '@ws/runner/bullmq'
import { component, createScratchDirectory, describeWith, deep } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { startRedis, type RedisServer } from './redis.ts'
import { queueTypes } from './types.ts'

const program = fileURLToPath(new URL('worker.ts', import.meta.url))

/** Workspace, output, state and log of a run, and the workers on it. */
async function createSite(redis: RedisServer) {
  const scratch = await createScratchDirectory({ prefix: 'queue-' })
  const workspace = await scratch.createDirectory('workspace')
  const output = await scratch.createDirectory('out')
  const [state, log] = [join(scratch.path, 'state'), join(scratch.path, 'log')]
  const workers = new Set<ChildProcess>()
  const runner = await createRunner({ workspace, output, state, types: queueTypes(log) })
  return {
    output,
    runner,
    /** The starts of each step, by its id. */
    async starts(): Promise<Map<string, number>> {
      const counts = new Map<string, number>()
      for (const line of (await readFile(log, 'utf8')).split('\n').filter(Boolean)) {
        const [id = ''] = line.split(' ')
        counts.set(id, (counts.get(id) ?? 0) + 1)
      }
      return counts
    },
    async startWorker(): Promise<ChildProcess> {
      const args = [String(redis.connection.port), workspace, output, state, log]
      const worker = spawn(process.execPath, ['--conditions=@ws/source', program, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      workers.add(worker)
      await once(worker.stdout, 'data')
      return worker
    },
    async [Symbol.asyncDispose]() {
      for (const worker of workers) await killed(worker)
      await runner.close()
      await scratch.remove()
    },
  }
}

async function killed(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return
  const exited = once(worker, 'exit')
  worker.kill('SIGKILL')
  await exited
}

it('[RU7] an option that went is refused with what to do', () => {
  const connection = {}
  expect(() => createQueueStep({ connection, pollInterval: 1 } as never)).toThrow(
    /not an option any more; leave it out/,
  )
  const worker = { connection, runner: {}, lockDuration: 1 } as never
  expect(() => createStepWorker(worker)).toThrow(/`lockDuration` is not an option any more; leave it out/)
})

describeWith(component('redis-server'), 'steps by BullMQ', () => {
  const count = deep ? 200 : 40
  const title = `does ${count} steps with 3 workers, of which some are killed, over a Redis that is restarted: each effect comes once`
  it(title, { tags: 'rounds', timeout: 240_000 }, async () => {
    await using redis = await startRedis()
    await using site = await createSite(redis)
    await using queue = createQueueStep({ connection: redis.connection })
    const workers = await Promise.all([1, 2, 3].map(() => site.startWorker()))
    const ids = Array.from({ length: count }, (_, index) => `s${index}`)
    const steps = ids.map((id, index) => ({
      id,
      type: 'work',
      outputs: [`${id}.txt`],
      needs: index < 20 ? [] : [ids[index - 20] ?? ''],
    }))
    let ended = 0
    const disturbances: Promise<unknown>[] = []
    const disturb: Readonly<Record<number, () => Promise<unknown>>> = {
      [count * 0.15]: async () => workers[0] && killed(workers[0]),
      [count * 0.3]: () => site.startWorker(),
      [count * 0.45]: () => redis.restart(),
      [count * 0.65]: async () => workers[1] && killed(workers[1]),
      [count * 0.75]: () => site.startWorker(),
    }
    const result = await site.runner.run(
      { version: 1, concurrency: 20, steps },
      {
        step: queue.step,
        onEvent: ({ type }) => {
          if (type !== 'end') return
          ended += 1
          const disturbance = disturb[ended]
          if (disturbance !== undefined) disturbances.push(disturbance())
        },
      },
    )
    await Promise.all(disturbances)
    expect(result.state).toBe('done')
    expect(new Set(Object.values(result.steps).map(({ state }) => state))).toEqual(new Set(['done']))
    expect((await readdir(site.output)).filter((name) => !name.startsWith('.ws-tmp-'))).toHaveLength(count)
    for (const id of ids) expect(await readFile(join(site.output, `${id}.txt`), 'utf8')).toBe(`${id}\n`)
    const records = (await site.runner.history())?.records ?? []
    expect(records.map(({ state }) => state)).toEqual(Array(count).fill('ended'))
    // two workers of two steps each were killed: only what they were at was begun again
    const again = [...(await site.starts()).values()].reduce((sum, count) => sum + count - 1, 0)
    expect(again).toBeLessThanOrEqual(4)
  })

  it('lets nobody repeat the step of a worker that was silent for too long, and comes back', async () => {
    await using redis = await startRedis()
    await using site = await createSite(redis)
    await using queue = createQueueStep({ connection: redis.connection })
    await Promise.all([site.startWorker(), site.startWorker()])
    const step = { id: 'one', type: 'block', outputs: ['one.txt'], with: { milliseconds: 4000 } }
    const result = await site.runner.run({ version: 1, steps: [step] }, { step: queue.step })
    expect(result.steps['one']).toMatchObject({ state: 'done' })
    expect(await site.starts()).toEqual(new Map([['one', 1]]))
    expect(await readFile(join(site.output, 'one.txt'), 'utf8')).toBe('once\n')
  }, 120_000)
})

/** @module-tag all */
import { setTimeout as delay } from 'node:timers/promises'

import { describeWith, deep } from '@ws/test-fixtures'
import { startCephServer } from '@ws/test-fixtures/s3'
import { expect, it, onTestFinished, vi } from 'vitest'

import { randomFrom, stepsFrom, work } from './child/workload.ts'
import { type Silence, checkRecovered, killProcess, killRclone, steps } from './crashes.ts'
import { Model } from './model.ts'
import { mountNeeds, open, openStore, optionsFor, scratch, type Store, storeThatHangs } from './support.ts'

const busyRounds = deep ? 10 : 1
const hangingRounds = deep ? 6 : 1
/** Kills of the gateway, and mounts that are at work then. */
const gatewayKills = deep ? 4 : 1
const mounts = deep ? 3 : 1
const firstSeed = Number(process.env['WS_SEED'] ?? '1')

describeWith(mountNeeds, '[RP14] crashes at random moments', () => {
  /** Two at once: most of a round is waiting. */
  async function crashBoth(seed: number, openSilent: () => Promise<{ store: Store; silence?: Silence }>) {
    const ends = [killRclone, killProcess].map(async (run, index) => {
      const { store, silence } = await openSilent()
      const options = { ...optionsFor(store, await scratch()), timeouts: { writeBack: 50 } }
      const crash = { options, seed: seed + index, store, silence }
      const { model, adapter } = await run(crash)
      await checkRecovered(adapter, store, model, crash.seed)
      await adapter.close()
      return model.acknowledged
    })
    return (await Promise.all(ends)).reduce((sum, count) => sum + count)
  }

  it(`of rclone and of the process, ${busyRounds} times`, {
    tags: 'rounds',
    timeout: deep ? 600_000 : 120_000,
  }, async () => {
    let acknowledged = 0
    for (let round = 0; round < busyRounds; round += 2)
      acknowledged += await crashBoth(firstSeed + round, async () => ({ store: await openStore() }))
    expect(acknowledged).toBeGreaterThan(busyRounds)
  })

  it(`of rclone and of the process while the store hangs, ${hangingRounds} times`, {
    tags: 'rounds',
    timeout: deep ? 600_000 : 120_000,
  }, async () => {
    let acknowledged = 0
    for (let round = 0; round < hangingRounds; round += 2) {
      acknowledged += await crashBoth(firstSeed + 500 + round, async () => {
        const { store, ...silence } = await storeThatHangs()
        return { store, silence }
      })
    }
    expect(acknowledged).toBeGreaterThan(hangingRounds)
  })

  it(`of the gateway, which hangs or is busy, and comes back, ${gatewayKills * mounts} times`, {
    tags: 'deep',
    timeout: deep ? 600_000 : 120_000,
  }, async () => {
    const server = await startCephServer()
    onTestFinished(() => server.close())
    const start = async (seed: number) => {
      const store = await openStore(server)
      const adapter = await open({ ...optionsFor(store, await scratch()), timeouts: { writeBack: 50, flush: 2_000 } })
      const all = stepsFrom(seed, steps)
      const model = new Model(all)
      return { seed, store, adapter, model, working: work(adapter, all, (report) => model.report(report)) }
    }
    for (let round = 0; round < gatewayKills; round += 1) {
      const seed = firstSeed + 1_000 + round * mounts
      const sites = await Promise.all(Array.from({ length: mounts }, (_, index) => start(seed + index)))
      const random = randomFrom(seed)
      await delay(random() * 1_500)
      if (round % 2 === 0) await hangFor(server.gateway.pid, random() * 1_000)
      await server.gateway.kill()
      await delay(200)
      await server.gateway.start()
      const checks = sites.map(async ({ seed: one, store, adapter, model, working }) => {
        await working
        await vi.waitFor(() => adapter.flush({ timeout: 30_000 }), { timeout: 40_000 })
        await adapter.refresh()
        await checkRecovered(adapter, store, model, one)
        await adapter.close()
      })
      await Promise.all(checks)
    }
  })
})

/** Connections stay open, and nothing answers. */
async function hangFor(pid: number | undefined, ms: number): Promise<void> {
  if (pid === undefined) throw new Error('the gateway does not run')
  process.kill(pid, 'SIGSTOP')
  await delay(ms)
}

import { setTimeout as delay } from 'node:timers/promises'

import { describeWith } from '@ws/test-fixtures'
import { startCephServer } from '@ws/test-fixtures/s3'
import { expect, it, onTestFinished, vi } from 'vitest'

import { randomFrom, stepsFrom, work } from './child/workload.ts'
import { type Silence, checkRecovered, killProcess, killRclone, steps } from './crashes.ts'
import { Model } from './model.ts'
import { isDeep, mountNeeds, open, openStore, optionsFor, scratch, type Store, storeThatHangs } from './support.ts'

const busyRounds = isDeep ? 40 : 6
const hangingRounds = isDeep ? 20 : 4
/** Kills of the gateway, and mounts that are at work then. */
const gatewayKills = isDeep ? 6 : 1
const mounts = isDeep ? 3 : 1
const firstSeed = Number(process.env['WS_SEED'] ?? '1')

describeWith(mountNeeds, '[RP14] crashes at random moments', () => {
  /** Two at once: most of a round is waiting. */
  async function crashBoth(seed: number, openSilent: () => Promise<{ store: Store; silence?: Silence }>) {
    const ends = [killRclone, killProcess].map(async (run, index) => {
      const { store, silence } = await openSilent()
      const options = { ...optionsFor(store, await scratch()), writeBackDelay: 50 }
      const crash = { options, seed: seed + index, store, silence }
      const { model, adapter } = await run(crash)
      await checkRecovered(adapter, store, model, crash.seed)
      await adapter.close()
      return model.acknowledged
    })
    return (await Promise.all(ends)).reduce((sum, count) => sum + count)
  }

  it(
    `of rclone and of the process, ${busyRounds} times`,
    async () => {
      let acknowledged = 0
      for (let round = 0; round < busyRounds; round += 2)
        acknowledged += await crashBoth(firstSeed + round, async () => ({ store: await openStore() }))
      expect(acknowledged).toBeGreaterThan(busyRounds)
    },
    isDeep ? 1_200_000 : 120_000,
  )

  it(
    `of rclone and of the process while the store hangs, ${hangingRounds} times`,
    async () => {
      let acknowledged = 0
      for (let round = 0; round < hangingRounds; round += 2) {
        acknowledged += await crashBoth(firstSeed + 500 + round, async () => {
          const { store, ...silence } = await storeThatHangs()
          return { store, silence }
        })
      }
      expect(acknowledged).toBeGreaterThan(hangingRounds)
    },
    isDeep ? 1_200_000 : 120_000,
  )

  it(
    `of the gateway, which hangs or is busy, and comes back, ${gatewayKills * mounts} times`,
    async () => {
      const server = await startCephServer()
      onTestFinished(() => server.close())
      const start = async (seed: number) => {
        const store = await openStore(server)
        const adapter = await open({ ...optionsFor(store, await scratch()), writeBackDelay: 50, flushTimeout: 2_000 })
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
    },
    isDeep ? 1_200_000 : 120_000,
  )
})

/** Connections stay open, and nothing answers. */
async function hangFor(pid: number | undefined, ms: number): Promise<void> {
  if (pid === undefined) throw new Error('the gateway does not run')
  process.kill(pid, 'SIGSTOP')
  await delay(ms)
}

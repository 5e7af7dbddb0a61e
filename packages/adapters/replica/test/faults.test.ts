import { createS3Adapter } from '@ws/adapter-s3'
import { isWorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { describeWith, rounds } from '@ws/test-fixtures'
import {
  type FaultPlan,
  type S3Connection,
  type S3ServerName,
  seededFaults,
  seededRandom,
  startFaultProxy,
} from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it, onTestFinished } from 'vitest'

import type { ReplicaAdapter } from '../src/index.ts'
import { changeOnce, Texts } from './support/changes.ts'
import { expectInStep, filesOf, machineOf } from './support/site.ts'

/** A store that cannot be reached at all. */
const outage: FaultPlan = () => ({ kind: 'reset', when: 'before' })

/** Takes conflicts and failures of the store for what they are: the next turn goes on. */
async function attempt(work: Promise<unknown> | undefined): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
  }
}

/** Two machines work while requests fail, hang, come late and lose their answers, and while the store is away. Then both agree. */
async function round(server: S3Connection, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const pick = (count: number): number => Math.floor(random() * count)
  const { bucket, region, credentials } = server
  await using proxy = await startFaultProxy(server)
  const storeOf = (endpoint: string): Promise<StorageAdapter> =>
    createS3Adapter({
      ...{ bucket, region, credentials, endpoint, prefix: `faults/${seed}`, symlinks: 'rclonelink' },
      ...{ attemptTimeout: 1_000, deadline: 10_000 },
    })
  await using direct = await storeOf(server.endpoint)
  const names = ['one', 'two']
  const machines = await Promise.all(
    names.map(async (machine) => machineOf(await storeOf(proxy.endpoint), { persist: 'flush', machine })),
  )
  const texts = new Texts()
  let written = 0
  for (let turn = 0; turn < 5; turn += 1) {
    proxy.setFaults(turn === 3 ? outage : seededFaults({ seed: seed * 10 + turn, rate: 0.2 }))
    for (const [index, { root }] of machines.entries()) {
      const text = (): string => `${names[index]} ${seed} ${(written += 1)}`
      const told = { wrote: (one: string) => texts.write(one), cover: (one: string) => texts.cover(one) }
      for (let change = pick(4); change > 0; change -= 1) changeOnce({ root, pick, text, ...told })
    }
    await Promise.all(
      machines.map(async ({ replica }) => {
        if (pick(2) === 0) await attempt(replica.refresh?.())
        await attempt(replica.flush())
      }),
    )
  }
  proxy.setFaults(undefined)
  const meet = async (replica: ReplicaAdapter): Promise<void> => {
    await attempt(replica.refresh?.())
    await attempt(replica.flush())
  }
  for (let turn = 0; turn < 3; turn += 1) for (const { replica } of machines) await meet(replica)
  const files = await filesOf(direct)
  for (const { replica } of machines) await expectInStep(replica, files, `seed ${seed}`)
  expect(texts.lostIn(files), `seed ${seed}`).toEqual([])
  for (const { replica } of machines) await replica.close()
}

const servers: readonly S3ServerName[] = ['r2', 'ceph']

// a round waits for time limits most of its time: 1 s of processor time
for (const name of servers) {
  describeWith(s3Needs(name), `a store on ${name} that fails in each way`, { tags: 'deep', timeout: 300_000 }, () => {
    it('[RE3] [RE4] loses nothing, and two machines agree with it when it is back', async () => {
      const server = await sharedS3Server(name)
      onTestFinished(() => server.close())
      for (const one of rounds({ quick: 1, seconds: 15 })) await round(server, one + 1)
    })
  })
}

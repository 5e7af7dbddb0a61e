import { createMemoryAdapter } from '@ws/adapter-memory'
import { isWorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { rounds } from '@ws/test-fixtures'
import { seededRandom } from '@ws/test-fixtures/s3'
import { expect, it } from 'vitest'

import type { ReplicaAdapter } from '../src/index.ts'
import { changeOnce, Texts } from './support/changes.ts'
import { expectInStep, filesOf, machineOf, storeWithoutConditionalDelete } from './support/site.ts'

/** Flushes, and takes conflicts and files that wait for another machine's tombstone for what they are. */
async function flush(replica: ReplicaAdapter): Promise<void> {
  try {
    await replica.flush()
  } catch (error) {
    if (!isWorkspaceError(error, 'ECONFLICT') && !isWorkspaceError(error, 'EBUSY')) throw error
  }
}

/** Three machines change one tree, and meet at the store in any order, also at once. */
async function converge(seed: number, store: StorageAdapter): Promise<void> {
  const random = seededRandom(seed)
  const pick = (count: number): number => Math.floor(random() * count)
  const texts = new Texts()
  const names = ['one', 'two', 'three']
  const machines = await Promise.all(names.map((machine) => machineOf(store, { persist: 'flush', machine })))
  let written = 0
  for (let round = 0; round < 6; round += 1) {
    for (const [index, { root }] of machines.entries()) {
      const text = (): string => {
        written += 1
        return `${names[index]} ${seed} ${written}`
      }
      for (let change = pick(4); change > 0; change -= 1)
        changeOnce({ root, pick, text, wrote: (one) => texts.write(one), cover: (one) => texts.cover(one) })
    }
    const some = machines.filter(() => random() < 0.7)
    const meet = async ({ replica }: (typeof machines)[number]): Promise<void> => {
      if (pick(2) === 0) await replica.refresh?.()
      await flush(replica)
    }
    if (pick(2) === 0) await Promise.all(some.map(meet))
    else for (const one of some) await meet(one)
  }
  for (let turn = 0; turn < 3; turn += 1)
    for (const { replica } of machines) {
      await replica.refresh?.()
      await flush(replica)
    }
  const files = await filesOf(store)
  for (const { replica } of machines) await expectInStep(replica, files, `seed ${seed}`)
  expect(texts.lostIn(files), `seed ${seed}`).toEqual([])
  for (const { replica } of machines) await replica.close()
}

// a round takes 0.1 s of processor time
it.each([
  ['that checks conditions on deletions', () => createMemoryAdapter()],
  ['that ignores them', storeWithoutConditionalDelete],
])(
  '[RE3] three machines on a store %s lose nothing, and agree in the end',
  { tags: ['rounds'], timeout: 300_000 },
  async (_how, make) => {
    for (const round of rounds({ quick: 8, seconds: 10 })) await converge(round + 1, make())
  },
)

/** @module-tag all */
import { createMemoryAdapter } from '@ws/adapter-memory'
import { isWorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { component, itWith, rounds } from '@ws/test-fixtures'
import { seededRandom } from '@ws/test-fixtures/s3'
import { expect, it, onTestFinished } from 'vitest'

import type { ReplicaAdapter } from '../src/index.ts'
import { changeOnce, Texts } from './support/changes.ts'
import { OddMachine, watchDeletions } from './support/odd.ts'
import { expectInStep, filesOf, machineOf, ownDirectory, storeWithoutConditionalDelete } from './support/site.ts'

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

/** Calls that a full disk, a conflict, or an entry that cannot be saved may refuse. */
async function tryCall(call: Promise<unknown> | undefined): Promise<void> {
  const mayBe = ['ECONFLICT', 'EBUSY', 'ENOTSUP', 'ENOSPC', 'EDQUOT']
  await call?.catch((error: unknown) => {
    if (!isWorkspaceError(error) || !mayBe.includes(error.code)) throw error
  })
}

/** Two machines with names that are not UTF-8, directories that are mounted over, and full disks. Answers what they did. */
async function convergeOddly(seed: number): Promise<{ changes: number; deletions: number }> {
  const random = seededRandom(seed)
  const pick = (count: number): number => Math.floor(random() * count)
  const texts = new Texts()
  const store = createMemoryAdapter()
  const watched = watchDeletions(store, (text) => texts.isCovered(text))
  const odd = [new OddMachine(await ownDirectory()), new OddMachine(await ownDirectory())]
  onTestFinished(() => odd.forEach((one) => one.end()))
  const machines = await Promise.all(
    odd.map(({ directory }, index) => machineOf(store, { persist: 'flush', machine: `m${index}`, directory })),
  )
  let changes = 0
  for (const [index, { root }] of machines.entries()) Object.assign(odd[index] ?? {}, { root })
  for (let round = 0; round < 8; round += 1) {
    for (const [index, { root }] of machines.entries()) {
      const text = (): string => `m${index} ${seed} ${changes}`
      for (let change = pick(5); change > 0; change -= 1) {
        changes += 1
        if (pick(3) === 0) odd[index]?.changeOnce(pick)
        else changeOnce({ root, pick, text, wrote: (one) => texts.write(one), cover: (one) => texts.cover(one) })
      }
    }
    for (const { replica } of machines) {
      if (pick(2) === 0) await tryCall(replica.refresh?.())
      await tryCall(replica.flush())
    }
    expect(watched.wrong, `seed ${seed}`).toEqual([])
  }
  for (const one of odd) one.settle()
  for (let turn = 0; turn < 4; turn += 1)
    for (const { replica } of machines) {
      await tryCall(replica.refresh?.())
      await tryCall(replica.flush())
    }
  const files = await filesOf(store)
  for (const { replica } of machines) await expectInStep(replica, files, `seed ${seed}`)
  expect(watched.wrong, `seed ${seed}`).toEqual([])
  expect(texts.lostIn(files), `seed ${seed}`).toEqual([])
  for (const { replica } of machines) await replica.close()
  for (const one of odd) one.end()
  return { changes, deletions: watched.deletions }
}

itWith(
  component('tmpfs'),
  '[HO5] [RE3] two machines with odd names, mounts and full disks delete nothing that nobody deleted',
  async () => {
    const seconds = Number(process.env['WS_ODD_SECONDS'] ?? 20)
    const done = { changes: 0, deletions: 0 }
    for (const round of rounds({ quick: 4, seconds })) {
      const { changes, deletions } = await convergeOddly(round + 1)
      done.changes += changes
      done.deletions += deletions
    }
    if (seconds > 20) console.info(JSON.stringify(done))
  },
  { tags: ['rounds'], timeout: 1_500_000 },
)

// A machine of its own, whose store is the parent's. It opens the replica, changes its files by a seed, and flushes, again and again.
import { createMemoryAdapter } from '@ws/adapter-memory'
import { isWorkspaceError } from '@ws/core'
import { seededRandom } from '@ws/test-fixtures/s3'

import { createReplicaAdapter } from '../../src/index.ts'
import { changeOnce } from './changes.ts'
import { askParent } from './wire.ts'

const [directory = '', seed = '0', machine = ''] = process.argv.slice(2)
const random = seededRandom(Number(seed))
const pick = (count: number): number => Math.floor(random() * count)
const store = askParent(createMemoryAdapter().capabilities)
const owner = process.getuid?.() === 0 ? { uid: 1_000, gid: 1_000 } : undefined
const replica = await createReplicaAdapter({ store, directory, persist: 'flush', machine, owner })
// as a command does: what it writes over must be there before
while (replica.status().copying !== undefined)
  await Promise.resolve(replica.refresh?.()).catch((error: unknown) => {
    if (!isWorkspaceError(error)) throw error // another machine writes meanwhile
  })
const root = String(replica.hostPath?.('/' as never))
process.send?.({ kind: 'open' })

/** Every text is written once: a text that is nowhere any more was lost. */
let written = 0
const text = (): string => {
  written += 1
  return `${machine} ${seed} ${process.pid} ${written}`
}

function tell(kind: string): (text: string) => void {
  return (one) => void process.send?.({ kind, text: one })
}

for (let round = 0; round < 4; round += 1) {
  for (let change = 0; change < 4; change += 1)
    changeOnce({ root, pick, text, wrote: tell('wrote'), cover: tell('covered') })
  try {
    await replica.refresh?.()
    await replica.flush()
  } catch (error) {
    if (!isWorkspaceError(error)) throw error // conflicts: both versions are kept
  }
}
await replica.close().catch(() => undefined)
process.send?.({ kind: 'done' })
process.disconnect?.()

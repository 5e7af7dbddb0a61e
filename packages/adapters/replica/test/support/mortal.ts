// Does one thing to a replica until it is killed. Its store is the parent's.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { isWorkspaceError } from '@ws/core'

import { createReplicaAdapter, type ReplicaAdapter } from '../../src/index.ts'
import { askParent } from './wire.ts'

const [directory = '', deed = '', conditionalDelete = 'server'] = process.argv.slice(2)
const store = askParent({ ...createMemoryAdapter().capabilities, conditionalDelete: conditionalDelete as 'server' })
const owner = process.getuid?.() === 0 ? { uid: 1_000, gid: 1_000 } : undefined

async function quietly(work: Promise<unknown> | undefined): Promise<void> {
  await work?.catch((error: unknown) => {
    if (!isWorkspaceError(error)) throw error // another machine writes meanwhile
  })
}

function change(files: string, round: number): void {
  // an earlier life may have left the names of its own
  const root = `${files}/${process.pid}`
  mkdirSync(`${root}/made${round}/deep`, { recursive: true })
  for (let file = 0; file < 5; file += 1) writeFileSync(`${root}/made${round}/deep/f${file}`, `${round} ${file}`)
  writeFileSync(`${files}/again`, String(round))
  if (round > 0) renameSync(`${root}/made${round - 1}`, `${root}/moved${round - 1}`)
  if (round > 1) rmSync(`${root}/moved${round - 2}`, { recursive: true })
}

async function live(replica: ReplicaAdapter): Promise<void> {
  const root = String(replica.hostPath?.('/' as never))
  for (let round = 0; ; round += 1) {
    if (deed === 'pull') await quietly(replica.refresh?.())
    if (deed === 'push') {
      change(root, round)
      await quietly(replica.flush())
    }
    if (deed === 'delete') {
      rmSync(`${root}/f${round}`, { force: true })
      await quietly(replica.flush())
    }
  }
}

process.send?.({ kind: 'begins' })
const replica = await createReplicaAdapter({ store, directory, persist: 'flush', owner })
if (deed === 'open') {
  await replica.refresh?.()
  await replica.close()
  process.disconnect?.()
} else {
  await replica.refresh?.()
  process.send?.({ kind: 'lives' })
  await live(replica)
}

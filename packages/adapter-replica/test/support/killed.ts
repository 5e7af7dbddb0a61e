// A machine of its own, whose store is the parent's. It opens the replica, changes its files by a seed, and flushes, again and again.
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { isWorkspaceError } from '@ws/core'
import { seededRandom } from '@ws/test-fixtures/s3'

import { createReplicaAdapter } from '../../src/index.ts'
import { askParent } from './wire.ts'

const [directory = '', seed = '0', machine = ''] = process.argv.slice(2)
const random = seededRandom(Number(seed))
const pick = (count: number): number => Math.floor(random() * count)
const store = askParent(createMemoryAdapter().capabilities)
const owner = process.getuid?.() === 0 ? { uid: 1_000, gid: 1_000 } : undefined
const replica = await createReplicaAdapter({ store, directory, persist: 'flush', machine, owner })
const root = String(replica.hostPath?.('/' as never))
process.send?.({ kind: 'open' })

/** Every text is written once: a text that is nowhere any more was lost. */
let written = 0
const text = (): string => {
  written += 1
  const body = `${machine} ${seed} ${process.pid} ${written}`
  process.send?.({ kind: 'wrote', text: body })
  return body
}

for (let round = 0; round < 4; round += 1) {
  for (let change = 0; change < 4; change += 1) changeOnce()
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

/** Says that a text that this machine has is replaced on purpose. */
function cover(path: string): void {
  try {
    process.send?.({ kind: 'covered', text: readFileSync(path, 'utf8') })
  } catch {
    // there is no file
  }
}
function write(path: string): void {
  cover(path)
  writeFileSync(path, text())
}

function changeOnce(): void {
  const [one, other] = [`${root}/f${pick(4)}`, `${root}/d${pick(2)}`]
  const act = pick(7)
  try {
    if (act <= 1) write(one)
    else if (act === 2) {
      mkdirSync(other, { recursive: true })
      write(`${other}/g${pick(2)}`)
    } else if (act === 3) mkdirSync(`${other}/empty`, { recursive: true })
    else if (act === 4) {
      const target = `${root}/f${pick(4)}-${pick(3)}`
      cover(target)
      renameSync(one, target)
    } else if (act === 5) chmodSync(one, 0o600 + pick(8) * 8)
    else if (readdirSync(root).length < 9) symlinkSync(`f${pick(4)}`, `${root}/l${pick(2)}`)
    else rmSync(`${root}/l${pick(2)}`, { force: true })
  } catch (error) {
    // it is not there, or is there already
    if (!['ENOENT', 'EEXIST', 'EISDIR', 'ENOTDIR', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error
  }
}

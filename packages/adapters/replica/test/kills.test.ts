/** @module-tag all */
import { fork } from 'node:child_process'
import { once } from 'node:events'

import { createMemoryAdapter } from '@ws/adapter-memory'
import type { StorageAdapter } from '@ws/core/adapter'
import { deep } from '@ws/test-fixtures'
import { seededRandom } from '@ws/test-fixtures/s3'
import { expect, it } from 'vitest'

import {
  at,
  expectInStep,
  filesOf,
  machineOf,
  ownDirectory,
  put,
  storeWithoutConditionalDelete,
} from './support/site.ts'
import { serveStore } from './support/wire.ts'

const program = new URL('support/mortal.ts', import.meta.url).pathname
const random = seededRandom(57)
const kills = deep ? 30 : 2

interface Death {
  readonly deed: 'open' | 'pull' | 'push' | 'delete'
  /** Milliseconds after it begins, or lives. Absent: it dies by itself, or by the store. */
  readonly after?: number
  readonly meanwhile?: () => Promise<unknown>
  readonly onStore?: (kill: () => void) => void
}

/** Lets a machine live until it is killed. Answers whether it came to its end before. */
async function die(
  store: StorageAdapter,
  directory: string,
  { deed, after, meanwhile, onStore }: Death,
): Promise<boolean> {
  const child = fork(program, [directory, deed, store.capabilities.conditionalDelete], {
    execArgv: ['--conditions=@ws/source', '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const kill = (): void => void child.kill('SIGKILL')
  onStore?.(kill)
  const from = deed === 'open' ? 'begins' : 'lives'
  let work: Promise<unknown> | undefined
  child.on('message', ({ kind }: { readonly kind?: string }) => {
    if (kind !== from) return
    if (after !== undefined) setTimeout(kill, after)
    work = meanwhile?.()
  })
  serveStore(child, store, { before: () => undefined, after: () => undefined })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  await work
  expect([0, 'SIGKILL']).toContain(code ?? signal)
  return code === 0
}

/** The next replica in the directory works, and has what the store has. */
async function expectNext(store: StorageAdapter, directory: string, of: string): Promise<void> {
  const { replica, root } = await machineOf(store, { directory, persist: 'flush' })
  await replica.flush()
  await replica.refresh?.()
  await expectInStep(replica, await filesOf(store), of)
  expect((await replica.hostDirectory?.(at('/')))?.owner, of).toBeDefined()
  expect(root).toContain('files')
  await replica.close()
}

const filled = (): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 40 }, (_, number) => [`/d${number % 5}/e/f${number}`, `text ${number}`]))

it('[RE4] kill -9 at any moment of the first opening: the next one goes on', {
  tags: 'rounds',
  timeout: 3_600_000,
}, async () => {
  const store = createMemoryAdapter({ files: filled() })
  const began = performance.now()
  expect(await die(store, `${await ownDirectory()}/r`, { deed: 'open' })).toBe(true)
  const whole = (performance.now() - began) / 3
  for (let count = 0; count < kills; count += 1) {
    const directory = `${await ownDirectory()}/r`
    const after = random() * whole
    await die(store, directory, { deed: 'open', after })
    if (count % 3 === 0) await die(store, directory, { deed: 'open', after: random() * whole })
    await expectNext(store, directory, `${after} ms`)
  }
  expect(await filesOf(store)).toMatchObject(filled())
})

it('[RE4] kill -9 in pulls: the next opening goes on, and nothing of the store is lost', {
  tags: 'rounds',
  timeout: 3_600_000,
}, async () => {
  const store = createMemoryAdapter({ files: filled() })
  const directory = `${await ownDirectory()}/r`
  for (let count = 0; count < kills; count += 1) {
    const meanwhile = async (): Promise<void> => {
      for (let number = 0; number < 20; number += 1) {
        await put(store, `/d${number % 5}/e/f${number}`, `${count} ${number}`)
        await put(store, `/new${count}/f${number}`, `${count} ${number}`)
        await new Promise(setImmediate)
      }
    }
    await die(store, directory, { deed: 'pull', after: random() * 150, meanwhile })
    const before = await filesOf(store)
    await expectNext(store, directory, String(count))
    expect(await filesOf(store)).toEqual(before)
  }
})

it('[RE4] kill -9 in pushes: the next opening goes on, and pushes the rest', {
  tags: 'rounds',
  timeout: 3_600_000,
}, async () => {
  const store = storeWithoutConditionalDelete()
  for (const [path, text] of Object.entries(filled())) await put(store, path, text)
  const directory = `${await ownDirectory()}/r`
  for (let count = 0; count < kills; count += 1) {
    await die(store, directory, { deed: 'push', after: random() * 400 })
    await expectNext(store, directory, String(count))
  }
  expect(await filesOf(store)).toMatchObject(filled())
})

it('[RE4] kill -9 between a tombstone and its deletion: others open, and their edits win', {
  tags: 'rounds',
  timeout: 3_600_000,
}, async () => {
  for (let count = 0; count < kills; count += 1) {
    const store = storeWithoutConditionalDelete()
    await put(store, '/f0', 'base')
    const other = await machineOf(store, { persist: 'flush', machine: 'other' })
    const directory = `${await ownDirectory()}/r`
    const { delete: remove } = store
    const onStore = (kill: () => void): void => {
      store.delete = (path, options) => {
        kill()
        return count % 2 === 0 ? new Promise(() => undefined) : remove.call(store, path, options)
      }
    }
    expect(await die(store, directory, { deed: 'delete', onStore })).toBe(false)
    store.delete = remove
    // a machine that never had the file, and one whose user edits it
    const fresh = await machineOf(store, { machine: 'fresh' })
    expect(await filesOf(fresh.replica)).toEqual({})
    await fresh.replica.close()
    await put(other.replica, '/f0', 'edited')
    await other.replica.close()
    await expectNext(store, directory, String(count))
    expect(Object.values(await filesOf(store)), String(count)).toEqual(['edited'])
  }
})

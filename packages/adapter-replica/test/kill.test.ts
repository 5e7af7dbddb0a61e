import { fork } from 'node:child_process'
import { once } from 'node:events'

import { createMemoryAdapter } from '@ws/adapter-memory'
import type { StorageAdapter } from '@ws/core/adapter'
import { seededRandom } from '@ws/test-fixtures/s3'
import { describe, expect, it } from 'vitest'

import { Texts } from './support/changes.ts'
import { filesOf, machineOf, ownDirectory, put } from './support/site.ts'
import { serveStore } from './support/wire.ts'

const program = new URL('support/killed.ts', import.meta.url).pathname

interface Life {
  readonly store: StorageAdapter
  readonly directory: string
  readonly seed: number
  readonly machine: string
  readonly texts: Texts
  /** The question to the store at which it is killed, and whether the store still does what was asked. */
  readonly kill?: { readonly at: number; readonly late: boolean } | undefined
}

/** Runs a machine to its end, or to its death. Answers whether it has come to its end. */
async function live({ store, directory, seed, machine, texts, kill }: Life): Promise<boolean> {
  const child = fork(program, [directory, String(seed), machine], {
    execArgv: ['--conditions=@ws/source', '--disable-warning=ExperimentalWarning'],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let done = false
  child.on('message', (message: { readonly kind?: string; readonly text?: string }) => {
    if (message.kind === 'wrote') texts.write(message.text ?? '')
    if (message.kind === 'covered') texts.cover(message.text ?? '')
    if (message.kind === 'done') done = true
  })
  const killAt = (late: boolean) => (number: number) => {
    if (kill?.at === number && kill.late === late) child.kill('SIGKILL')
  }
  serveStore(child, store, { before: killAt(false), after: killAt(true) })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  expect([0, 'SIGKILL']).toContain(code ?? signal) // it did not crash by itself
  return done
}

/**
 * One machine dies at a seeded question to the store while the other one writes, and starts again, several times. Then both
 * agree with the store, and nothing is lost.
 */
async function round(seed: number, deaths: number): Promise<void> {
  const random = seededRandom(seed)
  const store = createMemoryAdapter()
  const directory = `${await ownDirectory()}/replica`
  const other = await machineOf(store, { machine: 'other', persist: 'flush' })
  const texts = new Texts()
  for (let death = 0; death < deaths; death += 1) {
    const name = `/f${Math.floor(random() * 4)}`
    const text = `other ${seed} ${death}`
    await other.replica.refresh?.()
    const known = await filesOf(other.replica)
    // the one that dies makes directories of files, too
    const path = known[name] === 'directory' ? `${name}/of-other` : name
    texts.cover(known[path] ?? '')
    await put(other.replica, path, text)
    texts.write(text)
    const at = 1 + Math.floor(random() * 60)
    const life = live({
      store,
      directory,
      seed: seed * 100 + death,
      machine: 'mortal',
      texts,
      kill: { at, late: random() < 0.5 },
    })
    await other.replica.flush().catch(() => undefined)
    await life
  }
  const last = await live({ store, directory, seed: seed * 100 + 99, machine: 'mortal', texts })
  expect(last).toBe(true)
  for (let turn = 0; turn < 2; turn += 1) {
    await other.replica.refresh?.()
    await other.replica.flush().catch(() => undefined)
  }
  const mortal = await machineOf(store, { directory, machine: 'mortal', persist: 'flush' })
  await other.replica.refresh?.()
  const files = await filesOf(store)
  for (const { replica } of [mortal, other]) {
    expect(await filesOf(replica)).toEqual(files)
    expect(replica.status().dirty).toEqual([])
    expect((await replica.verify()).differing).toEqual([])
  }
  expect(texts.lostIn(files)).toEqual([])
  // no half of a file, no file of the machinery
  for (const [path, text] of Object.entries(files)) {
    expect(path).not.toContain('.ws-tmp')
    if (text !== 'directory' && !text.startsWith('->')) expect(text).toMatch(/^(?:other|mortal) \d+ [\d ]+$/u)
  }
}

// each life starts a program: 1 s of processor time
it('[RE4] kill -9 at any question to the store: both machines and the store agree after the next start', {
  timeout: 120_000,
}, async () => {
  await round(1, 2)
})

describe('many times', { tags: 'deep' }, () => {
  it.each([2, 3, 4, 5, 6, 7, 8, 9])('[RE4] the same, seed %i', { timeout: 240_000 }, async (seed) => {
    await round(seed, 4)
  })
})

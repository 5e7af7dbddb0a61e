/** @module-tag all */
import { fork } from 'node:child_process'
import { once } from 'node:events'

import { createMemoryAdapter } from '@ws/adapter-memory'
import type { StorageAdapter } from '@ws/core/adapter'
import { deep, rounds } from '@ws/test-fixtures'
import { seededRandom } from '@ws/test-fixtures/s3'
import { expect, it } from 'vitest'

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
  readonly kill?: Moment | undefined
}

/**
 * The end of a life: a question to the store, and whether the store still does what was asked; or so many milliseconds after the
 * first question, which may be any step on the disk.
 */
type Moment = { readonly at: number; readonly late: boolean } | { readonly after: number }

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
  let timer: NodeJS.Timeout | undefined
  const killAt = (late: boolean) => (number: number) => {
    if (kill === undefined) return
    if ('after' in kill) timer ??= setTimeout(() => child.kill('SIGKILL'), kill.after)
    else if (kill.at === number && kill.late === late) child.kill('SIGKILL')
  }
  serveStore(child, store, { before: killAt(false), after: killAt(true) })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  clearTimeout(timer)
  expect([0, 'SIGKILL']).toContain(code ?? signal) // it did not crash by itself
  return done
}

/**
 * One machine dies at seeded moments while the other one writes, and starts again, several times. Then both agree with the store,
 * and nothing is lost.
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
    const kill =
      random() < 0.5 ? { after: random() * 400 } : { at: 1 + Math.floor(random() * 60), late: random() < 0.5 }
    const life = live({ store, directory, seed: seed * 100 + death, machine: 'mortal', texts, kill })
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

// a round starts five programs: 5 s of processor time
it('[RE4] kill -9 at any moment: both machines and the store agree after the next start', {
  tags: 'rounds',
  timeout: 300_000,
}, async () => {
  for (const seed of rounds({ quick: 1, most: 50, seconds: 20 })) await round(seed + 1, deep ? 4 : 2)
})

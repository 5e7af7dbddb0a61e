import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createScratchDirectory, entriesBelow, meanwhile, rounds } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { at, filesOf, machineOf, put } from './support/site.ts'

describe('links that a command swaps in', () => {
  // a round takes 50 ms
  it('[HO1] lead neither what comes from the store nor what goes there out of the directory', {
    tags: 'rounds',
    timeout: 120_000,
  }, async () => {
    const outside = await createScratchDirectory()
    onTestFinished(() => outside.remove())
    for (const directory of ['sub', 'gone']) mkdirSync(join(outside.path, directory))
    for (const name of ['file', 'sub/file', 'gone/file', 'mine']) writeFileSync(join(outside.path, name), 'outside')
    const before = entriesBelow(outside.path)
    const store = createMemoryAdapter()
    for (const name of ['/dir/sub/file', '/dir/file', '/dir/gone/file']) await put(store, name, 'inside')
    const { replica, root } = await machineOf(store)
    // the replica itself moves links away: each step goes on from whatever is there
    const swap = await meanwhile(`
      const [dir, away, target] = ${JSON.stringify([join(root, 'dir'), join(root, 'away'), outside.path])}
      const pause = new Int32Array(new SharedArrayBuffer(4))
      const attempt = (act) => { try { act() } catch {} }
      for (;;) {
        attempt(() => fs.rmSync(away, { recursive: true, force: true }))
        attempt(() => fs.renameSync(dir, away))
        attempt(() => fs.symlinkSync(target, dir))
        Atomics.wait(pause, 0, 0, Math.random() * 2)
        attempt(() => fs.unlinkSync(dir))
        attempt(() => fs.renameSync(away, dir))
        Atomics.wait(pause, 0, 0, Math.random() * 2)
      }`)
    let synced = 0
    for (const round of rounds({ quick: 20, seconds: 10 })) {
      // what the attack has made of the tree is in the store as well: each of these may find it so
      await put(store, '/dir/file', `inside, from the store ${round}`).catch(() => undefined)
      await store.delete(at('/dir/gone'), { recursive: true }).catch(() => undefined)
      await put(store, `/dir/sub/new-${round % 10}`, 'inside').catch(() => undefined)
      await put(replica, '/dir/sub/file', `inside, by the file API ${round}`).catch(() => undefined)
      await replica.flush().then(
        () => (synced += 1),
        () => undefined,
      )
      await put(store, '/dir/gone/file', 'inside').catch(() => undefined)
      await replica.refresh?.().catch(() => undefined)
    }
    await swap.stop()
    expect(synced).toBeGreaterThan(0)
    expect(entriesBelow(outside.path)).toEqual(before)
    const texts = Object.entries(await filesOf(store)).filter(([, text]) => text === 'outside')
    expect(texts).toEqual([])
  })
})

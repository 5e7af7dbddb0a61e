/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { type AccessEvent, createWorkspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { component, createScratchDirectory, describeWith, mountHanging, ordinaryOwner } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

const kinds = [
  { name: 'bubblewrap', create: () => createBubblewrapExecutor() },
  { name: 'proot', create: () => createProotExecutor() },
  { name: 'sanitize', create: () => createSanitizeExecutor() },
] as const

/** Milliseconds beyond what is promised, for a busy machine. Without the promise these waits would never end. */
const slack = 3_000

async function openHanging(create: (typeof kinds)[number]['create']) {
  const scratch = await createScratchDirectory({ prefix: 'ws-hang-' })
  const owner = ordinaryOwner()
  const mount = await mountHanging(scratch.path, owner)
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: scratch.path, owner }) }],
    executors: [create()],
  })
  const events: AccessEvent[] = []
  workspace.on('access', (event) => events.push(event))
  return {
    workspace,
    mount,
    events,
    async [Symbol.asyncDispose]() {
      await mount[Symbol.asyncDispose]()
      // Processes that closing reported may not have gone yet.
      await workspace.close().catch(() => undefined)
      await scratch.remove()
    },
  }
}

for (const { name, create } of kinds) {
  const needs = [...(name === 'sanitize' ? [] : [component(name)]), component('perl'), component('fuse')]
  const isRoot = process.getuid?.() === 0
  describeWith(needs, `a process that no signal ends, under ${name}`, () => {
    it.runIf(isRoot)('outlives its timeout, and the result says so in time', async () => {
      await using site = await openHanging(create)
      const start = performance.now()
      const result = await site.workspace.exec('echo before; cat hang', {
        login: false,
        timeout: 2_000,
        killGrace: 100,
      })
      expect(performance.now() - start).toBeLessThan(2_000 + 100 + 1_000 + slack)
      await site.mount.read
      expect(result).toMatchObject({ timedOut: true, survivors: true, stdout: 'before\n' })
      expect(site.events.at(-1)).toMatchObject({ operation: 'exec', timedOut: true, survivors: true })
    })

    it.runIf(isRoot)('outlives its signal, whose reason comes in time; closing tells of it', async () => {
      await using site = await openHanging(create)
      const stop = new AbortController()
      const reason = new Error('enough')
      const options = { login: false, killGrace: 0, signal: stop.signal }
      const running = await site.workspace.spawn('cat hang', options)
      await site.mount.read
      const start = performance.now()
      stop.abort(reason)
      await expect(running.wait()).rejects.toBe(reason)
      expect(running.survivors).toBe(true)
      expect(performance.now() - start).toBeLessThan(1_000 + slack)
      expect(site.events.at(-1)).toMatchObject({ operation: 'exec', code: 'ECANCELED', survivors: true })
      await expect(site.workspace.close()).rejects.toMatchObject({ code: 'ETIMEDOUT', operation: 'close' })
    })

    it.runIf(isRoot)('keeps neither a session nor the end of the workspace', async ({ skip }) => {
      if (name === 'sanitize') skip('it has no sessions')
      await using site = await openHanging(create)
      const session = await site.workspace.openSession({ command: 'cat hang', login: false, killGrace: 0 })
      await site.mount.read
      const start = performance.now()
      await site.workspace.close().catch(() => undefined)
      expect(performance.now() - start).toBeLessThan(1_000 + slack)
      expect(await session.wait()).toMatchObject({ survivors: true })
    })
  })
}

/** @module-tag all */
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, observe } from '@ws/core'
import { withTimeToBegin } from '@ws/test-fixtures'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'

import { createVirtualExecutor } from '../src/index.ts'
import { open, run } from './support.ts'

const loop = 'while true; do :; done'
/** Never gives its thread back, and no limit ends it in time. */
const deaf = `echo ${'a'.repeat(60)}b | grep -E '(a+)+$'`
const endless = { limits: { maxCommands: 1e12, maxLoopIterations: 1e12 } }

describe('a command that does not end', () => {
  it('[PC16] is ended by its timeout, also in a loop that hears nothing', async () => {
    await using workspace = await open({ executor: endless })
    await run(workspace, 'true')
    const start = performance.now()
    const result = await workspace.exec(deaf, { timeout: 200, killGrace: 100 })
    expect(result).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGKILL' })
    expect(performance.now() - start).toBeLessThan(2_000)
  })

  it('[PC16] keeps its output up to the program that ran, and names it', async () => {
    await using workspace = await open({ executor: endless })
    await run(workspace, 'true')
    const script = `echo a; f() { echo b >&2; x=$(echo no); echo no | cat > file; }; { f; echo c; } 2>&1; ${deaf}; echo never`
    const { stdout, stderr } = await workspace.exec(script, { timeout: 500, killGrace: 100 })
    expect(stdout).toBe('a\nb\nc\n')
    expect(stderr).toBe(
      'bash: ended while this ran: grep -E (a+)+$; a repetition of a repetition, such as `(a*)*` or `a*a*`, takes too many steps on a long line: take one out, or give it less text\n',
    )
  })

  it('[PC16] stops at its next statement where it hears of its timeout', async () => {
    await using workspace = await open()
    await run(workspace, 'sleep 0.01')
    const stop = async (timeout: number) => {
      const result = await workspace.exec('echo x > /begun; sleep 60; echo x > /after', { timeout })
      expect(result).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGTERM' })
    }
    await withTimeToBegin(500, stop, () => workspace.exists('/begun'))
    expect([await workspace.exists('/begun'), await workspace.exists('/after')]).toEqual([true, false])
  })

  it('[EX1] is ended by `timeout` with its status, however the fractions of a millisecond fall', async () => {
    await using workspace = await open()
    const ended = 'for i in $(seq 40); do timeout 0.0037 sleep 1 && echo early; done; echo $?'
    expect(await run(workspace, ended)).toBe('124\n')
    // the time is over before the program begins, as it can be on a busy machine
    const before = 'timeout 0.0000001 sleep 1; echo $?; timeout 5 timeout 0.0000001 ls /; echo $?; echo on'
    expect(await run(workspace, before)).toBe('124\n124\non\n')
  })

  it('rejects with the reason of an abort, and leaves nothing running', async () => {
    await using workspace = await open({ executor: endless })
    for (const command of [loop, 'sleep 60', 'cat']) {
      const controller = new AbortController()
      const reason = new Error('enough')
      const stdin = neverEnding()
      const running = await workspace.spawn(command, {
        signal: controller.signal,
        ...(command === 'cat' ? { stdin } : {}),
      })
      const outcome = running.wait().then(
        () => 'resolved',
        (error: unknown) => error,
      )
      controller.abort(reason)
      expect(await outcome, command).toBe(reason)
      expect(running.kill(), command).toBe(false)
    }
    await expect(workspace.exec('true', { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before')
  })

  it('holds nobody else up: files and other commands go on', async () => {
    await using workspace = await open({ executor: { ...endless, concurrency: 2 } })
    await using running = await workspace.spawn(`echo x > /started; ${loop}`)
    while (!(await workspace.exists('/started'))) await new Promise((resolve) => setImmediate(resolve))
    for (let count = 0; count < 100; count++) await workspace.write('/other', String(count))
    expect(await run(workspace, 'cat /other')).toBe('99')
    expect(running.kill('SIGKILL')).toBe(true)
    expect(await running.wait()).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: false })
  })

  it('is ended by kill: politely at its next statement, else after its grace', async () => {
    await using workspace = await open({ executor: endless })
    // a busy machine must not turn a polite end into a kill
    await using sleeping = await workspace.spawn('sleep 60', { killGrace: 30_000 })
    expect(sleeping.kill()).toBe(true)
    expect(await sleeping.wait()).toMatchObject({ exitCode: null, signal: 'SIGTERM' })
    await using looping = await workspace.spawn(deaf, { killGrace: 50 })
    expect(looping.kill('SIGINT')).toBe(true)
    expect(await looping.wait()).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
  })

  it('ends with the workspace', async () => {
    const workspace = await open({ executor: { ...endless, concurrency: 2 } })
    const running = await Promise.all(
      [loop, 'sleep 60', 'echo waits for a thread'].map((line) => workspace.spawn(line)),
    )
    await workspace.close()
    for (const one of running.slice(0, 2)) expect(await one.wait()).toMatchObject({ exitCode: null })
    await expect(workspace.exec('true')).rejects.toThrow(/ECLOSED/)
  })

  it('waits for a thread no longer than its timeout', async () => {
    await using workspace = await open({ executor: { ...endless, concurrency: 1 } })
    await using holding = await workspace.spawn(loop)
    expect(await workspace.exec('echo never', { timeout: 50 })).toMatchObject({
      timedOut: true,
      stdout: '',
      exitCode: null,
    })
    holding.kill('SIGKILL')
    expect(await run(workspace, 'echo again')).toBe('again\n')
  })
})

describe('after its end', () => {
  it('nothing of a command is on its way to the files any more', async () => {
    let begun = 0
    let ended = 0
    const first = Promise.withResolvers<void>()
    const memory = createMemoryAdapter({ files: { '/a': 'a' } })
    const adapter = observe(memory, ({ operation, phase }) => {
      if (operation !== 'write') return
      if (phase === 'after') ended++
      else begun++
      first.resolve()
    })
    await using workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => adapter }],
      executors: [createVirtualExecutor()],
    })
    await using running = await workspace.spawn('while true; do echo x > /b; done')
    await first.promise
    running.kill('SIGKILL')
    await running.wait()
    expect(ended).toBe(begun)
    const before = begun
    expect(await run(workspace, 'cat /a')).toBe('a')
    expect(begun).toBe(before)
  })

  it('[PC16] no change of it lands: the end waits for a store that is working on one', async () => {
    const arrived = Promise.withResolvers<void>()
    const memory = createMemoryAdapter()
    const { write } = memory
    // as a slow server does: it has the request, and makes the change whether anyone still waits for the answer or not
    memory.write = async (path, data, options) => {
      arrived.resolve()
      const made = sleep(500).then(() => write.call(memory, path, data, { ...options, signal: undefined }))
      return Promise.race([made, aborted(options?.signal)])
    }
    await using workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => memory }],
      executors: [createVirtualExecutor()],
    })
    await using running = await workspace.spawn('echo x > /late')
    await arrived.promise
    running.kill('SIGKILL')
    expect(await running.wait()).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    expect(await workspace.exists('/late')).toBe(true)
  })
})

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
}

async function* neverEnding(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array([120])
  await new Promise(() => undefined)
}

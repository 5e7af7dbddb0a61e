import { paths } from '@ws/core'
import { type AttachedExecutor, type BindPlan, type CommandRequest, execError, noGuarantees } from '@ws/core/executor'
import { ordinaryOwner } from '@ws/test-fixtures'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { defineExecutor } from '../../src/executor/define-executor.ts'
import type { CommandDriver, CommandEnd, CommandPort, CommandRun } from '../../src/executor/driver.ts'

const root = paths.parseVirtual('/workspace')
const plan: BindPlan = { root, binds: [], aliases: [], restrictions: [], renameBorders: [] }
const plain: CommandRequest = { command: 'x', cwd: root, env: {}, login: false, killGrace: 50, maxOutputBytes: 100 }

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A port whose end the test decides; it counts what the base asks of it. */
function makePort(more: Partial<CommandPort> = {}) {
  const exited = Promise.withResolvers<CommandEnd>()
  const asked: string[] = []
  const port: CommandPort = {
    signal(name, whom) {
      asked.push(`${name} ${whom}`)
      return true
    },
    end: () => void asked.push('end'),
    exited: exited.promise,
    ...more,
  }
  return { port, asked, exit: exited.resolve, fail: exited.reject }
}

async function attach(start: NonNullable<CommandDriver['start']>) {
  const released = vi.fn(async () => undefined)
  const closed = vi.fn()
  const prepare = vi.fn(async () => ({ release: released, close: closed }))
  const driver: CommandDriver = { prepare, start }
  const executor = defineExecutor<object, true>({
    name: 'odd',
    probe: async () => ({ found: true }),
    guarantees: () => noGuarantees,
    attach: () => driver,
  })({})
  const attached = await executor.attach({ root, owner: ordinaryOwner(), files: undefined as never })
  return { attached, prepare, released, closed }
}

const run = async (attached: AttachedExecutor, more: Partial<CommandRequest> = {}) =>
  await attached.spawn({ ...plain, ...more }, plan)

describe('a driver that breaks its contract makes a command fail by the name of the executor:', () => {
  it('its start throws', async () => {
    const { attached, released, closed } = await attach(() => Promise.reject(new TypeError('no such thing')))
    await expect(run(attached)).rejects.toMatchObject({ code: 'ENOEXEC', reason: expect.stringContaining('odd') })
    expect([released.mock.calls.length, closed.mock.calls.length]).toEqual([1, 1])
  })

  it('its start never answers; a command that starts later is ended, and only then let go of', async () => {
    const late = Promise.withResolvers<CommandPort>()
    const { attached, released, closed } = await attach(() => late.promise)
    const refused = expect(run(attached)).rejects.toMatchObject({
      code: 'ENOEXEC',
      reason: expect.stringContaining('odd'),
    })
    await vi.advanceTimersByTimeAsync(30_000)
    await refused
    expect(closed).not.toHaveBeenCalled()
    const { port, asked } = makePort()
    late.resolve(port)
    await vi.waitFor(() => expect(released).toHaveBeenCalled())
    expect(asked).toEqual(['end'])
    expect(closed).toHaveBeenCalledTimes(1)
  })

  it('it reports an end without a meaning', async () => {
    for (const end of [{}, { status: 256 }, { status: 1.5 }, { shellStatus: -1 }, undefined]) {
      const { port, exit } = makePort()
      const { attached, released } = await attach(async () => port)
      const running = await run(attached)
      exit(end as CommandEnd)
      await expect(running.wait()).rejects.toMatchObject({ code: 'EIO', reason: expect.stringContaining('odd') })
      expect(released).toHaveBeenCalled()
    }
  })

  it('it loses the end by an error of its own', async () => {
    const { port, fail } = makePort()
    const { attached } = await attach(async () => port)
    const running = await run(attached)
    fail(new Error('socket hang up'))
    await expect(running.wait()).rejects.toMatchObject({ code: 'EIO', reason: expect.stringContaining('odd') })
  })

  it('it gives output after the end', async () => {
    const { port, exit } = makePort()
    let given: CommandRun | undefined
    const { attached, released } = await attach(async (_prepared, run) => {
      given = run
      return port
    })
    released.mockImplementation(async () => void given?.onStdout(Buffer.from('late')))
    const running = await run(attached)
    void given?.onStdout(Buffer.from('in time'))
    exit({ status: 0 })
    await expect(running.wait()).rejects.toMatchObject({ code: 'EIO', reason: expect.stringContaining('odd') })
    expect(running.output().stdout).toBe('in time')
  })

  it('it ignores every signal', async () => {
    const { port, asked } = makePort()
    const { attached } = await attach(async () => port)
    const running = await run(attached, { timeout: 1_000 })
    const failed = expect(running.wait()).rejects.toMatchObject({
      code: 'EIO',
      reason: expect.stringContaining('odd'),
    })
    await vi.advanceTimersByTimeAsync(1_050)
    expect(asked).toEqual(['SIGTERM everyone', 'end'])
    await vi.advanceTimersByTimeAsync(10_000)
    await failed
    expect(running.kill()).toBe(false)
  })
})

it('an end that is reported twice is the first one', async () => {
  const { port, exit } = makePort()
  const { attached } = await attach(async () => port)
  const running = await run(attached)
  exit({ status: 3 })
  exit({ status: 4 })
  expect(await running.wait()).toMatchObject({ exitCode: 3, executor: 'odd' })
})

it('a rest that never goes is ended with its command, and counts as left', async () => {
  const { port, asked, exit } = makePort({ gone: new Promise(() => undefined) })
  const { attached } = await attach(async () => port)
  const running = await run(attached)
  exit({ status: 0 })
  await vi.advanceTimersByTimeAsync(10)
  expect(asked).toEqual(['end'])
  expect(running.kill()).toBe(false)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await running.wait()).toMatchObject({ exitCode: 0, survivors: true })
})

it('on a timeout the rest has its grace, though the command has ended', async () => {
  const gone = Promise.withResolvers<void>()
  const { port, asked, exit } = makePort({ gone: gone.promise })
  const { attached } = await attach(async () => port)
  const running = await run(attached, { timeout: 100, killGrace: 500 })
  await vi.advanceTimersByTimeAsync(100)
  exit({ status: 7 })
  await vi.advanceTimersByTimeAsync(499)
  expect(asked).toEqual(['SIGTERM everyone'])
  await vi.advanceTimersByTimeAsync(1)
  expect(asked).toEqual(['SIGTERM everyone', 'end'])
  gone.resolve()
  expect(await running.wait()).toMatchObject({ exitCode: 7, timedOut: true })
})

it('what changed before the start is prepared anew, and after six times it is EBUSY', async () => {
  const changed = () => Promise.reject(execError('EBUSY', 'was exchanged'))
  const { port, exit } = makePort()
  exit({ status: 0 })
  const starts = [changed, changed, async () => port]
  const good = await attach(() => starts.shift()?.() ?? expect.fail())
  expect(await (await run(good.attached)).wait()).toMatchObject({ exitCode: 0 })
  expect([good.prepare.mock.calls.length, good.closed.mock.calls.length]).toEqual([3, 3])
  expect(good.released.mock.calls.length).toBeGreaterThanOrEqual(3)
  const bad = await attach(changed)
  await expect(run(bad.attached)).rejects.toMatchObject({ code: 'EBUSY' })
  expect(bad.prepare).toHaveBeenCalledTimes(6)
})

it('a lost end is an error that knows the output, unless the command was killed from here', async () => {
  for (const isKilled of [false, true]) {
    const { port, exit } = makePort()
    const { attached } = await attach(async () => port)
    const running = await run(attached)
    if (isKilled) expect(running.kill('SIGKILL')).toBe(true)
    exit({ lost: true })
    if (isKilled) expect(await running.wait()).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
    else await expect(running.wait()).rejects.toMatchObject({ code: 'EIO', reason: expect.stringContaining('sandbox') })
  }
})

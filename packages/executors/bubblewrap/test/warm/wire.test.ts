import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { duplexPair } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { Processes } from '@ws/sandbox'
import { encodeOrder, splitForSpare } from '../../src/warm/order.ts'
import { Supervisor } from '../../src/warm/supervisor.ts'
import { SupervisorLost, type SupervisorParts } from '../../src/warm/supervisor-parts.ts'
import { parseLine } from '../../src/warm/wire.ts'
import type { Layout, Placement } from '../../src/view/layout.ts'
import { eventually, processes } from '../support/processes.ts'

describe('a line of a supervisor', () => {
  it('is understood, or refused', () => {
    expect(parseLine('hello 8')).toEqual({ what: 'hello', filterBytes: 8 })
    expect(parseLine('end 3 255')).toEqual({ what: 'end', id: 3, status: 255 })
    const lies = ['', 'hello', 'hello -1', 'end 1', 'end 1 256', 'end 1 2 3', 'end x 1', 'spare 1 2 3', 'go 1']
    for (const line of [...lies, 'end 1 99999999999', 'spare 1 2 3 4 5 6 7 8 9', '__proto__ 1'])
      expect({ line, parsed: parseLine(line) }).toEqual({ line, parsed: undefined })
  })
})

describe('a supervisor that is not believed', () => {
  const ends: (() => void)[] = []
  afterEach(() => {
    for (const end of ends.splice(0)) end()
  })

  /** A process of its own, whose lines this test writes. */
  function pretend({
    patience = 10_000,
    check = () => undefined,
  }: Partial<Pick<SupervisorParts, 'patience' | 'check'>> = {}) {
    const child = spawn('/bin/sleep', ['300'], { stdio: 'ignore' })
    ends.push(() => child.kill('SIGKILL'))
    const [control, far] = duplexPair()
    const [status, reports] = duplexPair()
    const settled = Promise.withResolvers<void>()
    const supervisor = new Supervisor({
      child,
      control,
      status,
      filterBytes: 8,
      spares: 1,
      patience,
      check,
      onSettled: settled.resolve,
    })
    far.resume()
    reports.write(`{ "child-pid": ${child.pid} }\n`)
    return { child, supervisor, say: (text: string) => void far.write(text), settled: settled.promise }
  }

  for (const [name, text] of [
    ['a wrong filter', 'hello 7\n'],
    ['words before its greeting', 'end 1 0\n'],
    ['a second greeting', 'hello 8\nhello 8\n'],
    ['nonsense', 'hello 8\nroot:x:0:0\n'],
    ['a line without an end', 'hello 8\n'.padEnd(300, 'x')],
    ['a spare whose descriptors are none', 'hello 8\nspare 1 2 3 4 5 6 7 8\n'],
    ['a spare that nobody asked for', 'hello 8\n' + 'short 11\n'.repeat(3)],
  ] as const)
    it(`is ended for ${name}`, async () => {
      const { child, supervisor, say } = pretend()
      const taken = supervisor.take()
      say(text)
      await expect(taken).rejects.toBeInstanceOf(SupervisorLost)
      if (name === 'a spare that nobody asked for') expect(supervisor.isLost).toBe(true)
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      expect(child.signalCode).toBe('SIGKILL')
    })

  it('is ended in a network that commands must not have', async () => {
    const check = vi.fn(() => {
      throw new Error('the network of this machine')
    })
    const { child, supervisor, say } = pretend({ check })
    const exited = once(child, 'exit')
    say('hello 8\n')
    await expect(supervisor.take()).rejects.toBeInstanceOf(SupervisorLost)
    await exited
    expect(check.mock.calls).toEqual([[expect.objectContaining({ pid: child.pid })]])
  })

  it('is ended when it is silent', async () => {
    const { child, supervisor, settled } = pretend({ patience: 50 })
    const exited = once(child, 'exit')
    await expect(supervisor.take()).rejects.toBeInstanceOf(SupervisorLost)
    await settled
    await exited
    expect(child.signalCode).toBe('SIGKILL')
  })

  it('is ended with the child of bubblewrap that waits for its release', async () => {
    const child = spawn('/bin/sh', ['-c', 'sleep 300 & echo $!; wait'], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [line] = await once(child.stdout, 'data')
    const waiting = Number(line)
    ends.push(() => Processes.sendSignal(waiting, 'SIGKILL'))
    const [control, status] = [duplexPair()[0], duplexPair()[0]]
    const nothing = () => undefined
    const parts = {
      child,
      control,
      status,
      filterBytes: 8,
      spares: 1,
      patience: 10_000,
      check: nothing,
      onSettled: nothing,
    }
    await new Supervisor(parts).close()
    expect(await eventually(() => !processes().some(({ pid }) => pid === waiting))).toBe(true)
  })

  it('is ended when it says that a command has ended which lives', async () => {
    const { child, supervisor, say } = pretend()
    say('hello 8\n')
    const { pid = 0 } = child
    const { identify } = await import('../../src/processes/first-process.ts')
    const closed = { close: () => undefined, take: () => -1 }
    const spare = { id: 5, child: identify(pid), order: -1, stdin: -1, stdout: -1, stderr: -1, report: -1, ...closed }
    const { ended } = supervisor.follow(spare)
    say('end 5 0\n')
    expect(await ended).toMatchObject({ isLost: true })
    expect(supervisor.isLost).toBe(true)
  })
})

describe('an order', () => {
  const order = { argv: ['/bin/sh'], env: {}, cwd: '/', hasInput: false, atOnce: true, covers: [] }

  it('is one write at most, and holds no NUL', () => {
    expect(encodeOrder(order)?.length).toBeLessThan(100)
    expect(encodeOrder({ ...order, env: { A: 'x'.repeat(65_536) } })).toBeUndefined()
    expect(encodeOrder({ ...order, argv: ['/bin/sh', 'a\0b'] })).toBeUndefined()
  })
})

describe('a layout in two parts', () => {
  const base = { virtual: '/workspace', type: 'directory', show: 'source', readOnly: false } as const
  const root = { ...base, at: '/workspace', source: '/host/root' } as Placement
  const part = (rest: Partial<Record<keyof Placement, unknown>>) => ({ ...base, ...rest }) as Placement
  const split = (...placements: Placement[]) =>
    splitForSpare({ mode: 'below', placements, aliases: [], hasTemporary: true } as Layout)

  it('keeps the mounts, and leaves the covers to each command', () => {
    const mount = part({ at: '/workspace/skills', source: '/host/skills', readOnly: true })
    const pin = part({ at: '/workspace/a', source: '/host/root/a' })
    const mask = part({ at: '/workspace/a/b', show: 'mask', type: 'file', readOnly: true })
    const found = split(root, mount, pin, mask)
    expect(found?.mounted.placements).toEqual([root, mount])
    expect(found?.covers).toEqual([pin, mask])
  })

  it('starts cold where a cover would come to lie over a mount, or be writable in one that is not', () => {
    const mask = part({ at: '/workspace/a', show: 'closed', readOnly: true })
    const readOnly = part({ at: '/workspace/a', source: '/host/root/a', readOnly: true })
    const below = part({ at: '/workspace/a/b', source: '/host/other' })
    expect(split(root, mask, below)).toBeUndefined()
    expect(split(root, readOnly, below)).toBeUndefined()
    expect(split({ ...root, readOnly: true }, part({ at: '/workspace/a', source: '/host/root/a' }))).toBeUndefined()
    expect(splitForSpare({ mode: 'translated', placements: [], aliases: [], hasTemporary: true })).toBeUndefined()
  })
})

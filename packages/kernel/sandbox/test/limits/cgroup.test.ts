import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { isWorkspaceError } from '@ws/core'
import { openCgroup } from '../../src/limits/cgroup/delegated.ts'
import { resourceLimitReport } from '../../src/limits/report.ts'
import { createTestCgroup, describeWithCgroup, type TestCgroup } from '@ws/test-fixtures'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { SimulatedCgroup } from './support/simulated.ts'

const none = { ownProcesses: 0 }

async function eventually(condition: () => boolean): Promise<boolean> {
  for (let round = 0; round < 500 && !condition(); round++) await delay(10)
  return condition()
}

function refusal(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    if (isWorkspaceError(error)) return { code: error.code, text: error.message, remedy: error.remedy }
    throw error
  }
}

describeWithCgroup([], 'groups of the kernel’s own', () => {
  let cgroup: TestCgroup
  beforeEach(() => {
    cgroup = createTestCgroup()
  })
  afterEach(() => cgroup[Symbol.asyncDispose]())

  const open = (controllers: readonly string[] = []) => openCgroup(cgroup.path, { controllers })

  it('what a process starts after it has joined is in the group too; the end of the group ends all, and removes it', async () => {
    const group = open().make({}, none)
    const family = 'read -r go; sleep 1000 & setsid sleep 1000 & (setsid sh -c "sleep 1000 & sleep 1000" &); sleep 1000'
    const child = spawn('/bin/sh', ['-c', family], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
    const ended = once(child, 'exit')
    if (child.pid === undefined) throw new Error('no process')
    group.join(child.pid)
    child.stdin.end('go\n')
    const [name = ''] = cgroup.below()
    expect(await eventually(() => cgroup.members(name).length >= 6)).toBe(true)
    const members = cgroup.members(name)
    await group.end()
    await ended
    expect(members.filter((pid) => isRunning(pid))).toEqual([])
    expect(cgroup.below()).toEqual([])
  })

  it('what a killed process has left, processes included, is gone after the next one has looked', async () => {
    const script = join(import.meta.dirname, 'support/make-and-wait.ts')
    const helper = spawn(process.execPath, ['--conditions=@ws/source', script, cgroup.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      // Nothing at all, where it fails.
      const [chunk] = await Promise.race([once(helper.stdout, 'data'), once(helper, 'exit').then(() => [''])])
      const left = Number(String(chunk))
      expect(left).toBeGreaterThan(1)
      expect(cgroup.below()).toHaveLength(1)
      open()
      // The group of a living process stays.
      expect({ running: isRunning(left), groups: cgroup.below().length }).toEqual({ running: true, groups: 1 })
      helper.kill('SIGKILL')
      await once(helper, 'exit')
      open()
      expect(await eventually(() => !isRunning(left))).toBe(true)
      open()
      expect(cgroup.below()).toEqual([])
    } finally {
      helper.kill('SIGKILL')
    }
  })

  it('groups whose maker is not known to be gone are left alone', () => {
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]
    const { pid } = spawnSync('/bin/true')
    const kept = [`ws-1${namespace}-${pid}-1-1`, 'somebody-else', `ws-${namespace}-${pid}`]
    for (const name of [...kept, `ws-${namespace}-${pid}-1-1`]) mkdirSync(join(cgroup.path, name))
    // A group of this process, which lives, with no process in it yet.
    open().make({}, none)
    const [own = ''] = cgroup.below().filter((name) => name.startsWith(`ws-${namespace}-${process.pid}-`))
    open()
    expect(cgroup.below().sort()).toEqual([...kept, own].sort())
  })

  it('a controller that is not there is named, and nothing is claimed', () => {
    expect(refusal(() => open(['pids-of-another-kernel']))).toMatchObject({
      code: 'EUNENFORCEABLE',
      text: expect.stringContaining('lacks the controllers pids-of-another-kernel'),
      remedy: expect.stringContaining('Delegate='),
    })
  })

  it('a limit whose file is not there is refused, and leaves no group', () => {
    const opened = open()
    expect(refusal(() => opened.make({ processes: 10 }, none))).toMatchObject({ code: 'EUNENFORCEABLE' })
    expect(cgroup.below()).toEqual([])
  })
})

describe('groups in a directory that only looks like one: simulated are the controllers and their values', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ws-cgroup-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  const simulate = (options = {}) => new SimulatedCgroup(join(directory, 'group'), options)
  const groups = (cgroup: SimulatedCgroup) => readdirSync(cgroup.path).filter((name) => name.startsWith('ws-'))

  it('controllers that are there are given to the groups below, once', () => {
    const cgroup = simulate({ enabled: 'pids' })
    openCgroup(cgroup.path, { kernel: cgroup })
    openCgroup(cgroup.path, { kernel: cgroup })
    expect(cgroup.read('', 'cgroup.subtree_control')).toBe('pids memory')
  })

  it('limits are written and read back: memory in whole pages, no swap, the executor’s own processes on top', async () => {
    const cgroup = simulate()
    const group = openCgroup(cgroup.path, { kernel: cgroup }).make(
      { memoryBytes: 1_000_000, processes: 40, cpuSeconds: 3 },
      { ownProcesses: 2 },
    )
    const [name = ''] = groups(cgroup)
    expect({
      memory: cgroup.read(name, 'memory.max'),
      swap: cgroup.read(name, 'memory.swap.max'),
      processes: cgroup.read(name, 'pids.max'),
    }).toEqual({ memory: '999424', swap: '0', processes: '42' })
    await group.end()
    expect(groups(cgroup)).toEqual([])
  })

  it('a limit that was not asked for is not set', () => {
    const cgroup = simulate()
    openCgroup(cgroup.path, { kernel: cgroup }).make({ processes: 5 }, none)
    const [name = ''] = groups(cgroup)
    expect([cgroup.read(name, 'memory.max'), cgroup.read(name, 'pids.max')]).toEqual(['max', '5'])
  })

  it('a value that was not taken is refused, and leaves no group', () => {
    const cgroup = simulate()
    const opened = openCgroup(cgroup.path, { kernel: cgroup })
    cgroup.ignoresValues = true
    for (const limits of [{ memoryBytes: 10_000 }, { processes: 5 }])
      expect(refusal(() => opened.make(limits, none))).toMatchObject({ code: 'EUNENFORCEABLE' })
    expect(groups(cgroup)).toEqual([])
  })

  it('what is wider than the group around it is refused, since the narrower one would hold in silence', () => {
    const cgroup = simulate()
    const opened = openCgroup(cgroup.path, { kernel: cgroup })
    writeFileSync(join(cgroup.path, 'memory.max'), '4096000\n')
    opened.make({ memoryBytes: 4_096_000 }, none)
    expect(refusal(() => opened.make({ memoryBytes: 4_096_001 }, none))).toMatchObject({
      code: 'EUNENFORCEABLE',
      text: expect.stringContaining('memoryBytes'),
      remedy: expect.stringContaining('4096000'),
    })
  })

  it('processes in the group itself are the reason that is given', () => {
    const cgroup = simulate()
    cgroup.populated = true
    expect(refusal(() => openCgroup(cgroup.path, { kernel: cgroup }))).toMatchObject({
      code: 'EUNENFORCEABLE',
      text: expect.stringContaining('there are processes in it itself'),
      remedy: expect.stringContaining('DelegateSubgroup='),
    })
  })
})

describe('what is no group', () => {
  it('is refused without its host path in the message', () => {
    const plain = tmpdir()
    for (const path of [plain, join(plain, 'not-there')]) {
      const refused = refusal(() => openCgroup(path))
      expect(refused).toMatchObject({ code: 'EUNENFORCEABLE', remedy: expect.stringContaining('cgroup') })
      expect(JSON.stringify(refused)).not.toContain(plain)
    }
  })
})

describe('the report', () => {
  const of = (cgroup: boolean) =>
    Object.fromEntries(resourceLimitReport({ processes: 'uid', cgroup }).map((one) => [one.field, one]))

  it('says `cgroup` for memory and processes only where there is one, and else how to get it', () => {
    const held = { heldBy: 'cgroup', scope: 'tree' }
    expect(of(true)).toMatchObject({ memoryBytes: held, processes: held, cpuSeconds: { heldBy: 'rlimit' } })
    expect(of(false)).toMatchObject({
      memoryBytes: { heldBy: 'rlimit', scope: 'process', note: expect.stringContaining('Delegate=') },
      processes: { heldBy: 'rlimit', scope: 'uid' },
    })
  })
})

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}

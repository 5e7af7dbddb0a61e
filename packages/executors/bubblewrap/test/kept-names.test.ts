import { once } from 'node:events'
import { readdir, rmdir } from 'node:fs/promises'
import { spawn } from 'node:child_process'
import { join } from 'node:path'

import type { Owner } from '@ws/core/adapter'
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import type { HostPath } from '@ws/core/executor'
import type { Reserve } from '@ws/sandbox'
import { describeWith } from '@ws/test-fixtures'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'
import { KeptNames } from '../src/view/kept-names.ts'
import { needed, Workbench } from './support/workbench.ts'

const helper = join(import.meta.dirname, './support/start-and-wait.ts')
const own = 'cat /proc/1/comm'

describeWith(needed['warm-direct'], 'names at / that are kept', () => {
  let bench: Workbench
  beforeEach(async () => {
    bench = await Workbench.create('warm-direct', { warm: { keepNames: true } })
  })
  afterEach(() => bench[Symbol.asyncDispose]())

  it('[RU2] stay between commands as they are, are listed by none, and are gone at the end', async () => {
    const names = await readdir(bench.host())
    expect(names).toEqual(expect.arrayContaining(['usr', 'bin', 'etc', 'proc', 'tmp']))
    await bench.file(bench.host('file'))
    for (let i = 0; i < 3; i++) expect((await bench.run(`ls -A /; ${own}`)).stdout).toBe('file\nperl\n')
    expect((await readdir(bench.host())).sort()).toEqual([...names, 'file'].sort())
    await bench.executor.close()
    expect(await readdir(bench.host())).toEqual(['file'])
  })

  it('[RU2] are not there for the file API, and cannot be taken by a command', async () => {
    const adapter = await createLocalAdapter({ root: bench.host() })
    const workspace = await createWorkspace({
      mounts: [{ at: '/', adapter }],
      executors: [createBubblewrapExecutor({ root: 'direct', warm: { keepNames: true } })],
    })
    await workspace.exec('true')
    expect((await readdir(bench.host())).length).toBeGreaterThan(8)
    expect(await Array.fromAsync(workspace.list('/'))).toEqual([])
    expect(await workspace.exists('/usr')).toBe(false)
    const taken = await workspace.exec('rmdir /usr /sbin; mv /bin /other; echo x > /lib/x; ls -A /')
    expect(taken.stdout).toBe('')
    await workspace.close()
  })

  it('[RU2] are made again where a program on the host has removed one', async () => {
    await rmdir(bench.host('usr'))
    expect((await bench.run(own)).stdout).toBe('perl\n')
    expect(await readdir(bench.host())).toContain('usr')
  })

  it('[RU2] are gone after kill -9 of the process that kept them', async () => {
    await bench.executor.close()
    const { owner } = bench.scratch
    const request = {
      command: 'echo ready; sleep 300',
      cwd: bench.root,
      env: {},
      login: false,
      killGrace: 100,
      maxOutputBytes: 1000,
    }
    const order = { owner, root: bench.root, warm: { keepNames: true }, plan: bench.plan(), request, count: 2 }
    const node = spawn(process.execPath, ['--conditions=@ws/source', helper, JSON.stringify(order)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const chunk of node.stdout) if (String(chunk).includes('ready')) break
    expect(await readdir(bench.host())).toContain('usr')
    node.kill('SIGKILL')
    await once(node, 'exit')
    await expect.poll(() => readdir(bench.host())).toEqual([])
  })
})

describe('names that are kept', () => {
  afterEach(() => void vi.useRealTimers())

  it('are let go of a minute after the last command, and where one was exchanged', async () => {
    vi.useFakeTimers()
    const released: string[] = []
    const keeper = {
      reserve: async () => ({
        identities: new Map([['/nowhere/usr' as HostPath, '1:2']]),
        release: async () => void released.push('released'),
      }),
    } as unknown as Reserve.NameKeeper
    const names = [{ name: { root: '/nowhere', path: '/usr' }, at: '/usr' }] as never
    const owner: Owner = { uid: 1, gid: 1 }
    const kept = new KeptNames()
    await kept.keep(names, owner, keeper)
    await vi.advanceTimersByTimeAsync(59_000)
    await kept.keep(names, owner, keeper)
    await vi.advanceTimersByTimeAsync(59_000)
    expect(released).toEqual([])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(released).toHaveLength(1)
    await kept.keep(names, owner, keeper)
    await kept.check()
    expect(released).toHaveLength(2)
    await kept.close()
    expect(released).toHaveLength(2)
  })
})

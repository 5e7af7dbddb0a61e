import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createProotExecutor } from '@ws/executor-proot'
import { startProcess, Temporary } from '@ws/sandbox'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { guaranteesOf } from '../src/guarantees.ts'
import { extractLoader } from '../src/loader-image.ts'
import { firstProcess, parseReport, reportDescriptor } from '../src/first-process.ts'
import { prefix } from '../src/runtime-directory.ts'
import { countStops, stoppedCallsOf } from '../src/stopped-calls.ts'
import { owner, virtual } from './support.ts'

const needed = [component('proot'), component('perl')]

describe('the guarantees', () => {
  const fixed = {
    fileMetadata: 'translated',
    sockets: 'none',
    network: 'none',
    subtrees: 'none',
    deniedSubtrees: 'translated',
    apiRules: 'none',
  }

  it('are those of the table: a view, and a boundary only where the kernel holds it', () => {
    expect(guaranteesOf({ landlockAbi: 0, pidNamespace: false })).toEqual({
      ...fixed,
      fileContent: 'translated',
      processes: 'none',
      readOnlyMounts: 'none',
    })
    expect(guaranteesOf({ landlockAbi: 3, pidNamespace: false })).toMatchObject({
      fileContent: 'kernel',
      processes: 'none',
      readOnlyMounts: 'kernel',
    })
    expect(guaranteesOf({ landlockAbi: 6, pidNamespace: false }).processes).toBe('translated')
    expect(guaranteesOf({ landlockAbi: 0, pidNamespace: true })).toMatchObject({
      processes: 'kernel',
      fileContent: 'translated',
    })
  })
})

describeWith(needed, 'the probe', () => {
  it('[PC13] runs the real thing, reports what it found, and leaves nothing', async () => {
    const before = await readdir(tmpdir())
    const executor = createProotExecutor()
    expect(executor).toMatchObject({ name: 'proot', kind: 'process' })
    for (const root of ['/', '/workspace']) {
      const report = await executor.probe({ root: virtual(root), owner })
      expect(report).toMatchObject({ available: true, missing: [], howToFix: [] })
      expect(report.details['proot']).toMatch(/^\d+\.\d+/)
      expect(report.guarantees.fileContent).toBe(component('landlock').available ? 'kernel' : 'translated')
    }
    expect((await readdir(tmpdir())).filter((name) => name.startsWith(`ws-proot-${process.pid}-`))).toEqual([])
    expect(before.filter((name) => /^proot(ed)?-/.test(name))).toEqual([])
  })

  it('counts how many system calls are stopped: as many as a bare proot of this machine does', async () => {
    const { stdout } = await startProcess({
      argv: [component('proot').path ?? '', '-r', '/', '/bin/sh', '-c', countStops],
    }).wait()
    const count = Number(stdout.text)
    expect(count).toBeGreaterThanOrEqual(0)
    const { details } = await createProotExecutor().probe({ owner })
    expect(details.stoppedCalls).toBe(count >= 300 ? 'all' : 'some')
  })

  it('says less where it is told to use less', async () => {
    const report = await createProotExecutor({ landlock: 'off', pidNamespace: 'off' }).probe({ owner })
    expect(report.guarantees).toMatchObject({ fileContent: 'translated', processes: 'none', readOnlyMounts: 'none' })
    expect(report.details).toMatchObject({ landlock: 'not used', processes: 'supervisor' })
  })

  it('is asked once and can be aborted', async () => {
    const executor = createProotExecutor()
    const aborted = AbortSignal.abort(new Error('no time'))
    await expect(executor.probe({ signal: aborted })).rejects.toThrow('no time')
    expect(await executor.probe()).toBe(await executor.probe())
  })
})

describe('options', () => {
  it('that mean nothing are EINVAL, by name', () => {
    const cases: [unknown, string][] = [
      [null, 'object'],
      [{ nosuch: 1 }, 'nosuch'],
      [{ landlock: true }, 'landlock'],
      [{ pidNamespace: 'on' }, 'pidNamespace'],
      [{ env: 'PATH' }, 'env'],
      [{ env: ['A=B'] }, 'env'],
      [{ tools: [{ host: 'relative', at: '/opt/x' }] }, 'host'],
      [{ tools: [{ host: '/usr', at: '/' }] }, 'tool'],
      [{ tools: [{ host: '/usr', at: '/tmp/x' }] }, 'tool'],
      [{ tools: [{ host: '/nowhere/at/all', at: '/opt/x' }] }, '/opt/x'],
    ]
    for (const [options, named] of cases) {
      expect(() => createProotExecutor(options as never), named).toThrow(expect.objectContaining({ code: 'EINVAL' }))
      expect(() => createProotExecutor(options as never), named).toThrow(named)
    }
  })

  describeWith([...needed, component('bash')], 'tools and env', () => {
    it('reach the command, the tools on its PATH', async () => {
      const { Bench } = await import('./support.ts')
      const tools = await mkdtemp(join(tmpdir(), 'ws-tools-'))
      process.env['WS_TEST_ALLOWED'] = 'allowed'
      process.env['WS_TEST_OTHER'] = 'other'
      try {
        const { chmod, mkdir } = await import('node:fs/promises')
        await chmod(tools, 0o755)
        await mkdir(join(tools, 'bin'))
        await writeFile(join(tools, 'bin/hello'), '#!/bin/sh\necho hello')
        await chmod(join(tools, 'bin/hello'), 0o755)
        const options = { env: ['WS_TEST_ALLOWED'], tools: [{ host: tools, at: '/opt/tools' }] }
        await using bench = await Bench.create('/', options)
        expect(await bench.output('hello; echo $WS_TEST_ALLOWED:$WS_TEST_OTHER; command -v hello')).toBe(
          'hello\nallowed:\n/opt/tools/bin/hello',
        )
        expect((await bench.run('echo x > /opt/tools/bin/hello')).exitCode).not.toBe(0)
      } finally {
        delete process.env['WS_TEST_ALLOWED']
        delete process.env['WS_TEST_OTHER']
        await rm(tools, { recursive: true, force: true })
      }
    })
  })
})

describe('the parts', () => {
  it('find proot’s loader, and nothing in a file without one', async () => {
    expect(extractLoader(Buffer.concat([Buffer.from('\x7fELF', 'latin1'), Buffer.alloc(4096)]))).toBe(undefined)
    if (!component('proot').available) return
    const loader = extractLoader(await readFile('/usr/bin/proot'))
    expect(loader?.subarray(0, 4).toString('latin1')).toBe('\x7fELF')
  })

  it('count no stop where nothing traces', async () => {
    const { stdout } = await startProcess({ argv: ['/bin/sh', '-c', countStops] }).wait()
    expect(stdout.text).toMatch(/^\d+\n$/)
    expect(stoppedCallsOf(Number(stdout.text))).toBe('some')
    expect(stoppedCallsOf(602)).toBe('all')
  })

  it('read what the first process reports', () => {
    expect(parseReport('started\nexit 3\n')).toMatchObject({ started: true, ending: { exitCode: 3, signal: null } })
    expect(parseReport('started\nsignal 9\n')).toMatchObject({ ending: { exitCode: null, signal: 9 } })
    expect(parseReport('fail cwd 2\n')).toMatchObject({ started: false, failure: { step: 'cwd', errno: 2 } })
    expect(parseReport('')).toEqual({ started: false, failure: undefined, ending: undefined })
  })

  it('[LS13] report an ending only where the tracer still translates: else the command may have failed without it', async () => {
    const { dev, ino } = await stat('/etc', { bigint: true })
    const run = async (etc: string) => {
      const first = firstProcess({ argv: ['/bin/sh', '-c', 'exit 3'], env: {}, cwd: '/', etc })
      const running = startProcess({ ...first })
      let report = ''
      running.pipes.get(reportDescriptor)?.on('data', (chunk: Buffer) => (report += chunk.toString()))
      await running.wait()
      return report
    }
    expect(await run(`${dev}:${ino}`)).toBe('started\nexit 3\n')
    expect(await run(`${dev}:${ino + 1n}`)).toBe('started\n')
  })

  it('sweep what dead processes left, and nothing that is alive', async () => {
    const alive = Temporary.createRuntimeDirectory(prefix)
    const dead = await mkdtemp(join(tmpdir(), 'ws-proot-4194305-1-'))
    const foreign = await mkdtemp(join(tmpdir(), 'ws-prooted-'))
    try {
      Temporary.sweepRuntimeDirectories(prefix)
      const names = await readdir(tmpdir())
      const left = [alive, dead, foreign].map((path) => names.includes(path.split('/').at(-1) ?? ''))
      expect(left).toEqual([true, false, true])
    } finally {
      await Promise.all([alive, dead, foreign].map((path) => rm(path, { recursive: true, force: true })))
    }
  })
})

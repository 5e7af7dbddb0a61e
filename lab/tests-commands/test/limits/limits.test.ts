/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { type CommandLimits, createWorkspace } from '@ws/core'
import type { Executor, LimitReport } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith, ordinaryOwner, processesWith } from '@ws/test-fixtures'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

import { forms, openSite } from '../doors/site.ts'

const mebibyte = 2 ** 20

const forkAll = `
import os, signal
count = 0
try:
    while count < 300:
        if os.fork() == 0: signal.pause()
        count += 1
    print("never refused")
except BlockingIOError:
    print("refused after", count)
`

async function reportsOf(executor: Executor): Promise<Partial<Record<LimitReport['field'], LimitReport>>> {
  const { limits = [] } = await executor.probe({ owner: ordinaryOwner() })
  return Object.fromEntries(limits.map((report) => [report.field, report]))
}

const isRoot = process.getuid?.() === 0
/** Where all processes of a user count, those of other tests must not: root can have a user for this process alone. */
const ownUser = isRoot ? { uid: 100_000 + process.pid, gid: 100_000 } : ordinaryOwner()

for (const door of forms) {
  describeWith(
    [...door.components, 'bash', 'python3'].map((name) => component(name as 'bash')),
    `limits: ${door.name}`,
    { tags: [...door.tags] },
    () => {
      const processes = door.kernel || isRoot ? 40 : 160
      const open = (limits?: CommandLimits) =>
        openSite({ root: door.root, executor: door.create(limits), owner: ownUser })
      const execute = async (command: string, limits: CommandLimits, own?: CommandLimits) => {
        await using site = await open(own)
        return await site.workspace.exec(command, { login: false, shell: 'bash', timeout: 60_000, limits })
      }

      it('a fork bomb ends, and leaves nobody', async () => {
        const token = `bomb${Math.random()}`.replace('.', '')
        const bomb = await execute(`bash -c ':(){ :|:& };:' ${token}; echo over`, { processes })
        expect(bomb).toMatchObject({ exitCode: 0, stdout: 'over\n', timedOut: false })
        expect(processesWith(token)).toEqual([])
      })

      it('processes are counted: what is more is refused', async () => {
        const { stdout } = await execute(`python3 -c '${forkAll}'`, { processes })
        expect(stdout).toMatch(/^refused after \d+$/m)
        const count = Number(/\d+/.exec(stdout)?.[0])
        expect(count).toBeGreaterThan(door.kernel ? 36 : 0)
        expect(count).toBeLessThan(processes)
      })

      it('a program that takes too much memory is refused more, and ends', async () => {
        const take = (bytes: number) => `python3 -c 'x = bytearray(${bytes}); print(len(x))'`
        const limits = { memoryBytes: 512 * mebibyte }
        expect(await execute(take(64 * mebibyte), limits)).toMatchObject({ exitCode: 0, stdout: `${64 * mebibyte}\n` })
        const { exitCode, stderr } = await execute(take(1024 * mebibyte), limits)
        expect({ exitCode, error: stderr.includes('MemoryError') }).toEqual({ exitCode: 1, error: true })
      })

      it('a program that computes for too long is ended', async () => {
        const { exitCode, signal, timedOut } = await execute('while :; do :; done', { cpuSeconds: 1 })
        expect(timedOut).toBe(false)
        expect(signal ?? exitCode).toBe(signal === null ? 128 + 24 : 'SIGXCPU')
      })

      it('a file ends at the limit: SIGXFSZ, or EFBIG for who ignores that', async () => {
        const limits = { fileBytes: mebibyte }
        const { stdout } = await execute('head -c 3000000 /dev/zero > big; echo $?; stat -c %s big', limits)
        expect(stdout).toBe(`${128 + 25}\n${mebibyte}\n`)
        // python ignores the signal
        const write = `python3 -c 'open("big", "wb", 0).write(b"x" * 1048577) == 1048576 and open("big", "ab", 0).write(b"x")'`
        expect((await execute(write, limits)).stderr).toContain('File too large')
      })

      it('descriptors are counted, no core file is left, and nothing of it can be widened', async () => {
        const show =
          'ulimit -n; ulimit -c; ulimit -n 4096 2>/dev/null || echo narrow; ulimit -t unlimited 2>/dev/null || echo narrow'
        const { stdout } = await execute(show, { openFiles: 64, cpuSeconds: 100 })
        expect(stdout).toBe('64\n0\nnarrow\nnarrow\n')
      })

      it('those of a command narrow those of the executor, and never widen them', async () => {
        const show = async (limits: CommandLimits) => (await execute('ulimit -n', limits, { openFiles: 100 })).stdout
        expect(await show({})).toBe('100\n')
        expect(await show({ openFiles: 50 })).toBe('50\n')
        expect(await show({ openFiles: 200 })).toBe('100\n')
      })

      it('the report says which are held, and over what', async () => {
        const reports = await reportsOf(door.create())
        const perProcess = { heldBy: 'rlimit', scope: 'process' }
        expect(reports).toMatchObject({
          cpuSeconds: perProcess,
          memoryBytes: perProcess,
          fileBytes: perProcess,
          openFiles: perProcess,
          processes: { heldBy: 'rlimit', scope: door.kernel || !isRoot ? 'tree' : 'uid' },
          scratchBytes: { heldBy: door.kernel ? 'file-system' : 'none' },
        })
      })

      it('one that cannot be held is a typed error that says what to do, and nothing runs', async () => {
        await using site = await open()
        const refuse = async (limits: object) =>
          expect(site.workspace.exec('touch ran', { login: false, limits })).rejects
        await (await refuse({ scratchBytes: mebibyte })).toMatchObject({
          code: 'EUNENFORCEABLE',
          reason: expect.stringContaining('scratchBytes'),
          remedy: expect.stringContaining(door.kernel ? 'scratch: false' : 'ws doctor'),
        })
        const own = Number(/^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1])
        await (await refuse({ openFiles: own + 1 })).toMatchObject({
          code: 'EUNENFORCEABLE',
          remedy: expect.stringMatching(/ulimit/),
        })
        const bad = [
          [{ cpuSeconds: 0 }, 'cpuSeconds'],
          [{ cpuSeconds: 1.5 }, 'cpuSeconds'],
          [{ memory: 5 }, 'memoryBytes'],
          [{ fileBytes: '1' }, 'fileBytes'],
          [[], 'limits'],
          ['none', 'limits'],
        ] as const
        for (const [limits, named] of bad)
          await (await refuse(limits as object)).toMatchObject({
            code: 'EINVAL',
            message: expect.stringContaining(named),
          })
        expect(readdirSync(site.directory)).toEqual(['file.txt'])
        expect(() => door.create({ processes: -1 })).toThrow('EINVAL')
      })
    },
  )
}

describeWith(component('bubblewrap'), 'the size of /tmp', () => {
  it('is held where it is in memory', async () => {
    await using site = await openSite({ root: '/workspace' })
    await using workspace = await createWorkspace({
      mounts: [
        { at: '/workspace', adapter: () => createLocalAdapter({ root: site.directory, owner: ordinaryOwner() }) },
      ],
      executors: [createBubblewrapExecutor({ limits: { scratchBytes: 4 * mebibyte } })],
      scratch: false,
    })
    const fill = (limits: CommandLimits) =>
      workspace.exec('for d in /tmp /dev/shm; do head -c 9000000 /dev/zero > $d/big; stat -c %s $d/big; done', {
        login: false,
        limits,
      })
    const whole = await fill({})
    expect(whole.stdout).toBe(`${4 * mebibyte}\n`.repeat(2))
    expect(whole.stderr).toContain('No space left on device')
    expect((await fill({ scratchBytes: mebibyte })).stdout).toBe(`${mebibyte}\n`.repeat(2))
  })
})

it('an executor that holds no limit refuses all, rather than to pass them over', async () => {
  await using site = await openSite({ root: '/workspace', executor: createVirtualExecutor() })
  const limited = site.workspace.exec('true', { limits: { cpuSeconds: 1 } })
  await expect(limited).rejects.toMatchObject({ code: 'EUNENFORCEABLE', reason: expect.stringContaining('virtual') })
})

it('proot says at once when its options ask for what it does not hold', async () => {
  const proot = component('proot')
  if (!proot.available) return
  const executor = createProotExecutor({ limits: { scratchBytes: mebibyte } })
  await expect(openSite({ root: '/', executor })).rejects.toMatchObject({
    code: 'ENOEXECUTOR',
    reason: expect.stringContaining('scratchBytes'),
  })
})

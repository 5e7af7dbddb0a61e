import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { AttachedExecutor } from '@ws/core/executor'
import { createProotExecutor, type ProotExecutorOptions } from '@ws/executor-proot'
import { defineExecutor, Limits } from '@ws/sandbox'
import {
  component,
  createTestCgroup,
  describeWith,
  describeWithCgroup,
  recordGroups,
  type TestCgroup,
} from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { attachProot } from '../src/attach.ts'
import { prootDriver } from '../src/executor.ts'
import { resolveOptions } from '../src/options.ts'
import { Bench, owner, request, virtual } from './support.ts'

const needed = [component('proot'), component('perl'), component('bash')]

function commandLine(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
}

for (const pidNamespace of ['auto', 'off'] as const) {
  describeWithCgroup(needed, `a control group for each command (pidNamespace: ${pidNamespace})`, () => {
    let bench: Bench
    let cgroup: TestCgroup
    let executor: AttachedExecutor | undefined
    beforeEach(async () => {
      bench = await Bench.create('/', { pidNamespace })
      cgroup = createTestCgroup()
    })
    afterEach(async () => {
      await executor?.close()
      await cgroup[Symbol.asyncDispose]()
      await bench[Symbol.asyncDispose]()
    })

    async function attach(own: Partial<Limits.CommandGroup> = {}) {
      const { delegated, asked } = recordGroups(Limits.openCgroup(cgroup.path, { controllers: [] }), {}, own)
      const asGiven: ProotExecutorOptions = { pidNamespace }
      let probed = false
      const createExecutor = defineExecutor({
        ...prootDriver,
        async probe(...known) {
          const answer = await prootDriver.probe(...known)
          probed = true
          return answer
        },
        attach: (target, machine, options) => attachProot(target, machine, options, probed ? delegated : undefined),
      })
      const view = { root: virtual('/'), owner, files: undefined as never }
      executor = await createExecutor(resolveOptions(asGiven)).attach(view)
      return { executor, asked }
    }

    it('holds all that it starts, counts who else is in it, and is gone when the command has ended', async () => {
      const { executor, asked } = await attach()
      const time = `${70_000 + Math.floor(Math.random() * 1e6)}.${process.pid}`
      const running = await executor.spawn(
        request(`setsid sleep ${time} & sleep ${time} & echo ready; exec sleep ${time}`),
        bench.plan(),
      )
      for await (const chunk of running.stdout) if (Buffer.from(chunk).includes('ready')) break
      const [name = ''] = cgroup.below()
      const sleepers = () => cgroup.members(name).filter((pid) => commandLine(pid).startsWith(`sleep\0${time}`))
      await expect.poll(() => sleepers().length, { timeout: 10_000 }).toBe(3)
      expect(cgroup.members(name)).toHaveLength(3 + (asked[0]?.ownProcesses ?? 0))
      running.kill('SIGKILL')
      await running.wait()
      expect(cgroup.below()).toEqual([])
    })

    it('holds memory and processes instead of resource limits; the others stay (simulated: the values)', async () => {
      const { executor, asked } = await attach()
      const limits = { memoryBytes: 2 ** 29, processes: 50, openFiles: 70 }
      const running = await executor.spawn(request('ulimit -v; ulimit -n', { limits }), bench.plan())
      expect(await running.wait()).toMatchObject({ exitCode: 0, stdout: 'unlimited\n70\n' })
      expect(asked).toMatchObject([{ limits }])
      expect(executor.limits).toContainEqual({ field: 'processes', heldBy: 'cgroup', scope: 'tree' })
      expect(cgroup.below()).toEqual([])
    })

    it('is joined before anything runs: where it cannot be, nothing does', async () => {
      const { executor } = await attach({
        join() {
          throw new Error('cannot be moved')
        },
      })
      await expect(executor.spawn(request('touch ran'), bench.plan())).rejects.toMatchObject({ code: 'ENOEXEC' })
      expect({ groups: cgroup.below(), ran: existsSync(join(bench.workspace, 'ran')) }).toEqual({
        groups: [],
        ran: false,
      })
    })
  })
}

describeWith(needed, 'the option `cgroup`', () => {
  it('is never passed over: a group that is not delegated makes the executor unavailable, and the remedy is told', async () => {
    expect(await createProotExecutor({ cgroup: tmpdir() }).probe({ owner })).toMatchObject({
      available: false,
      missing: [expect.stringContaining('not on a cgroup v2 file system')],
      howToFix: [expect.stringContaining('Delegate=')],
    })
    await expect(Bench.create('/', { cgroup: tmpdir() })).rejects.toMatchObject({ code: 'ENOEXECUTOR' })
  })

  it('must be an absolute path', () => {
    expect(() => createProotExecutor({ cgroup: 'system.slice' })).toThrow('EINVAL')
  })
})

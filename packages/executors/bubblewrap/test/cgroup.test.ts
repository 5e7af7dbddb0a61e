import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

import type { CommandLimits, FileDoor } from '@ws/core'
import type { AttachedExecutor } from '@ws/core/executor'
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

import { attachBubblewrap } from '../src/attach.ts'
import { resolveOptions } from '../src/options.ts'
import { guaranteesOf } from '../src/guarantees.ts'
import { findPrograms } from '../src/programs.ts'
import { createBubblewrapExecutor } from '../src/index.ts'
import { eventually, processesWith } from './support/processes.ts'
import { formOf, modes, needed, tagsInEachForm, Workbench } from './support/workbench.ts'

const groupOf = (pid: number) => /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'latin1'))?.[1] ?? ''

for (const mode of modes) {
  describeWithCgroup(needed[mode], `a control group for each command (${mode})`, { tags: tagsInEachForm(mode) }, () => {
    let bench: Workbench
    let cgroup: TestCgroup
    let executor: AttachedExecutor | undefined
    let marker: string
    beforeEach(async () => {
      bench = await Workbench.create(mode)
      cgroup = createTestCgroup()
      marker = `7${Math.floor(Math.random() * 1e8)}`
    })
    afterEach(async () => {
      await executor?.close()
      await cgroup[Symbol.asyncDispose]()
      await bench[Symbol.asyncDispose]()
    })

    async function attach(own: Partial<Limits.CommandGroup> = {}) {
      const { delegated, asked } = recordGroups(Limits.openCgroup(cgroup.path, { controllers: [] }), {}, own)
      const options = { ...resolveOptions(formOf(mode)), cgroup: cgroup.path }
      const { bwrap = '', proot } = await findPrograms()
      const { root, scratch } = bench
      const programs = { bwrap, proot, direct: true }
      const { owner } = scratch
      executor = await defineExecutor<object, true>({
        name: 'bubblewrap',
        probe: async () => ({ found: true }),
        guarantees: () => guaranteesOf(options),
        attach: () => attachBubblewrap({ root, owner }, programs, options, { cgroup: delegated }),
      })({}).attach({ root, owner, files: undefined as never })
      return { executor, asked }
    }

    const request = (command: string, limits?: CommandLimits) => ({
      command,
      cwd: bench.root,
      env: {},
      shell: '/bin/sh',
      login: false,
      killGrace: 300,
      maxOutputBytes: 1 << 20,
      limits,
    })

    it('holds all that it starts, counts who else is in it, and is gone when the command has ended', async () => {
      const { executor, asked } = await attach()
      const running = await executor.spawn(
        request(`setsid sleep ${marker} & sleep ${marker} & exec sleep ${marker}`),
        bench.plan(),
      )
      const [name = ''] = cgroup.below()
      const sleepers = () => processesWith(marker).filter((one) => one.arguments.startsWith('sleep'))
      expect(await eventually(() => sleepers().length === 3)).toBe(true)
      for (const { pid } of sleepers()) expect(groupOf(pid)).toMatch(new RegExp(`/${name}$`))
      expect(cgroup.members(name)).toHaveLength(3 + (asked[0]?.ownProcesses ?? 0))
      running.kill('SIGKILL')
      await running.wait()
      expect({ groups: cgroup.below(), left: processesWith(marker) }).toEqual({ groups: [], left: [] })
    })

    it('holds memory and processes instead of resource limits; the others stay (simulated: the values)', async () => {
      const { executor, asked } = await attach()
      const limits = { memoryBytes: 2 ** 29, processes: 50, openFiles: 70 }
      const running = await executor.spawn(request('ulimit -v; ulimit -n', limits), bench.plan())
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
      await expect(executor.spawn(request(`touch ran; sleep ${marker}`), bench.plan())).rejects.toMatchObject({
        code: 'ENOEXEC',
      })
      expect(cgroup.below()).toEqual([])
      // It was killed, but this process learns of it later.
      expect(await eventually(() => processesWith(marker).length === 0)).toBe(true)
      expect(existsSync(bench.host('ran'))).toBe(false)
    })
  })
}

describeWith([component('bubblewrap')], 'the option `cgroup`', () => {
  it('is never passed over: a group that is not delegated makes the executor unavailable, and the remedy is told', async () => {
    const executor = createBubblewrapExecutor({ cgroup: tmpdir() })
    expect(await executor.probe({})).toMatchObject({
      available: false,
      missing: [expect.stringContaining('not on a cgroup v2 file system')],
      howToFix: [expect.stringContaining('Delegate=')],
    })
    const bench = await Workbench.create('below')
    const view = { root: bench.root, owner: bench.scratch.owner, files: undefined as unknown as FileDoor }
    await expect(executor.attach(view)).rejects.toMatchObject({ code: 'ENOEXECUTOR' })
    await bench[Symbol.asyncDispose]()
  })

  it('must be an absolute path', () => {
    expect(() => createBubblewrapExecutor({ cgroup: 'system.slice' })).toThrow('EINVAL')
  })
})

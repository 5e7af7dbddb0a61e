import { readdir, rename, rmdir } from 'node:fs/promises'
import { isWorkspaceError } from '@ws/core'
import { getCommandResult, type StartedCommand } from '@ws/core/executor'
import { describeWith } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { eventually, outerProcesses, processes, processesWith } from '../support/processes.ts'
import { isBelow, isWarm, modes, needed, tagsOfWarm, Workbench } from '../support/workbench.ts'

const own = 'cat /proc/1/comm'
/** Tells the commands of this file from those of other runs. */
const seconds = 30_000 + Math.floor(Math.random() * 1e6)
const warm = 'perl\n'
const cold = 'sh\n'

for (const mode of modes.filter(isWarm))
  describeWith(needed[mode], `a supervisor of warm commands (${mode})`, { tags: tagsOfWarm(mode) }, () => {
    let bench: Workbench
    beforeEach(async () => {
      bench = await Workbench.create(mode)
    })
    afterEach(() => bench[Symbol.asyncDispose]())

    async function printing(): Promise<StartedCommand> {
      const running = await bench.spawn(`echo printed; exec sleep ${seconds}`)
      for await (const chunk of running.stdout) if (Buffer.from(chunk).includes('printed')) break
      return running
    }

    /** Process 1 of the sandbox of all. */
    function supervisor(): number {
      const [outer] = outerProcesses('', mode)
      const inner = processes().find(({ parent }) => parent === outer?.pid)
      if (inner === undefined) throw new Error('the supervisor was not found')
      return inner.pid
    }

    it('serves all commands of a tree, at once or one after another', async () => {
      expect((await bench.run(own)).stdout).toBe(warm)
      const first = supervisor()
      const results = await Promise.all(Array.from({ length: 12 }, (_, i) => bench.run(`${own}; exit ${i}`)))
      expect(results.map(({ stdout, exitCode }) => ({ stdout, exitCode }))).toEqual(
        Array.from({ length: 12 }, (_, i) => ({ stdout: warm, exitCode: i })),
      )
      expect(supervisor()).toBe(first)
    })

    it('that is killed fails its commands with EIO and what they printed; the next starts cold, the one after warm', async () => {
      const running = await printing()
      process.kill(supervisor(), 'SIGKILL')
      const error = await running.wait().catch((thrown: unknown) => thrown)
      expect(isWorkspaceError(error, 'EIO')).toBe(true)
      expect(getCommandResult(error)?.stdout).toBe('printed\n')
      expect((await bench.run(own)).stdout).toBe(cold)
      expect((await bench.run(own)).stdout).toBe(warm)
    })

    it.runIf(mode === 'warm-direct')(
      'goes on where the tracer of a command is killed: that command fails with EIO and what it printed',
      async () => {
        const running = await printing()
        const before = supervisor()
        const parentOf = (one: number) => processes().find(({ pid }) => pid === one)?.parent ?? 0
        const [command] = processesWith(`sleep ${seconds}`)
        process.kill(parentOf(parentOf(command?.pid ?? 0)), 'SIGKILL')
        const error = await running.wait().catch((thrown: unknown) => thrown)
        expect(isWorkspaceError(error, 'EIO')).toBe(true)
        expect(getCommandResult(error)?.stdout).toBe('printed\n')
        expect(processesWith(`sleep ${seconds}`)).toEqual([])
        expect((await bench.run(own)).stdout).toBe(warm)
        expect(supervisor()).toBe(before)
      },
    )

    it('that does not answer fails a command that has ended with EIO; nothing hangs, and the next starts cold', async () => {
      await bench.run(own)
      const running = await bench.spawn('echo printed; read -r line', { stdin: (async function* () {})() })
      const stopped = supervisor()
      process.kill(stopped, 'SIGSTOP')
      const error = await running.wait().catch((thrown: unknown) => thrown)
      expect(isWorkspaceError(error, 'EIO')).toBe(true)
      expect(getCommandResult(error)?.stdout).toBe('printed\n')
      expect(processes().some(({ pid }) => pid === stopped)).toBe(false)
      expect((await bench.run(own)).stdout).toBe(cold)
    })

    it('that stops while it is asked for a sandbox lets the command start cold', { tags: 'deep' }, async () => {
      await bench.run(own)
      process.kill(supervisor(), 'SIGSTOP')
      const results = await Promise.allSettled(Array.from({ length: 4 }, () => bench.run(own)))
      // Those that got a sandbox which was ready have run in it; their end is not known.
      for (const result of results)
        if (result.status === 'rejected') expect(isWorkspaceError(result.reason, 'EIO')).toBe(true)
        else expect(result.value.stdout).toBe(cold)
      expect(results.some(({ status }) => status === 'fulfilled')).toBe(true)
    })

    it('ends with the executor, and leaves no process and no descriptor', async () => {
      await bench.run(own)
      const before = (await readdir('/proc/self/fd')).length
      for (let i = 0; i < 30; i++) await bench.run('true')
      // two spares with five pipes each may have come since; a descriptor for each command would be 30
      expect((await readdir('/proc/self/fd')).length).toBeLessThanOrEqual(before + 10)
      const ended = supervisor()
      await bench.executor.close()
      expect(await eventually(() => !processes().some(({ pid, parent }) => pid === ended || parent === ended))).toBe(
        true,
      )
      expect(outerProcesses('', mode)).toEqual([])
    })

    // 17 executors, three sandboxes each
    it.runIf(mode === 'warm')('is one of sixteen in a process: the one that was used longest ago goes', async () => {
      const others: Workbench[] = []
      try {
        await bench.run(own)
        const first = supervisor()
        for (let i = 0; i < 16; i++) {
          const other = await Workbench.create(mode)
          others.push(other)
          expect((await other.run(own)).stdout).toBe(warm)
        }
        expect(await eventually(() => !processes().some(({ pid }) => pid === first))).toBe(true)
        expect(await eventually(() => outerProcesses('', mode).length === 16)).toBe(true)
        expect((await bench.run(own)).stdout).toBe(warm)
        expect(await eventually(() => outerProcesses('', mode).length === 16)).toBe(true)
      } finally {
        for (const other of others) await other[Symbol.asyncDispose]()
      }
    })

    it('gives up a command that is killed before it begins, and one that is aborted', async () => {
      const controller = new AbortController()
      const aborted = bench.run(`sleep ${seconds}`, { signal: controller.signal })
      controller.abort(new Error('enough'))
      await expect(aborted).rejects.toThrow('enough')
      expect(processesWith(`sleep ${seconds}`)).toEqual([])
      expect((await bench.run(own)).stdout).toBe(warm)
    })

    it('shows a mount that a later command has, and covers what rules protect since', async () => {
      await bench.file(bench.host('secret'), 'hush')
      await bench.directory(bench.host('skills'))
      await bench.file(bench.outside('skills/skill'), 'skill')
      expect((await bench.run(`cat secret; ls skills; ${own}`)).stdout).toBe(`hush${warm}`)
      const mount = { kind: 'mount', at: '/skills', source: bench.outside('skills'), access: 'read-only' } as const
      expect((await bench.run(`cat skills/skill; ${own}`, { parts: [mount] })).stdout).toBe(`skill${warm}`)
      const mask = { kind: 'mask', at: '/secret', type: 'file' } as const
      const covered = await bench.run(`cat secret; ${own}`, { parts: [mask] })
      expect(covered).toMatchObject({ stdout: warm })
      expect(covered.stderr).toContain('Permission denied')
      expect((await bench.run(`cat secret; ${own}`)).stdout).toBe(`hush${warm}`)
    })

    it('masks what the last command has made', async () => {
      await bench.run('echo hush > made')
      const parts = [{ kind: 'mask', at: '/made', type: 'file' }] as const
      expect((await bench.run('cat made', { parts })).stdout).toBe('')
    })

    it('runs no command without a mount point that was removed from outside', async () => {
      await bench.directory(bench.host('skills'))
      await bench.file(bench.outside('skills/skill'), 'skill')
      const parts = [{ kind: 'mount', at: '/skills', source: bench.outside('skills'), access: 'read-only' }] as const
      expect((await bench.run('cat skills/skill', { parts })).stdout).toBe('skill')
      await rmdir(bench.host('skills'))
      const refused = await bench.run('touch ran', { parts }).catch((thrown: unknown) => thrown)
      expect(isWorkspaceError(refused, 'EBUSY')).toBe(true)
      // The name is back, and the supervisor's own mount is not.
      await bench.directory(bench.host('skills'))
      const again = await bench.run(`cat skills/skill; ${own}`, { parts }).catch((thrown: unknown) => thrown)
      expect(again).toMatchObject({ stdout: `skill${warm}` })
    })

    it('shows at an alias what belongs to the command', async () => {
      const alias = isBelow(mode) ? '/workspace/again' : '/workspace'
      const { stdout } = await bench.run(
        `cat ${alias}/proc/1/comm; echo x > ${alias}/dev/shm/x; cat /dev/shm/x; ls -d ${alias}/proc/[0-9]* | wc -l`,
        { aliases: [alias] },
      )
      expect(stdout).toMatch(/^(?:perl\nx\n[2-5]\n)?$/)
    })

    it('leaves to a cold start what does not fit: long orders, descriptors of its own', async () => {
      expect((await bench.run(own, { env: { LONG: 'x'.repeat(100_000) } })).stdout).toBe(cold)
      expect((await bench.run(`${own} #${'x'.repeat(140_000)}`)).stdout).toBe(cold)
      expect((await bench.run(own)).stdout).toBe(warm)
    })

    it('takes limits that differ from command to command', async () => {
      const size = 'df -B1 --output=size /dev/shm | tail -n 1'
      bench.hasScratch = false
      expect((await bench.run(size)).stdout.trim()).toBe(String(64 * 1024 * 1024))
      expect((await bench.run(size, { limits: { scratchBytes: 1_048_576 } })).stdout.trim()).toBe('1048576')
      expect((await bench.run('ulimit -f', { limits: { fileBytes: 512 * 100 } })).stdout).toBe('100\n')
      expect((await bench.run('ulimit -f')).stdout).toBe('unlimited\n')
    })
  })

// in both forms in the short tier: only the one with its own root goes by the key alone
for (const mode of modes.filter(isWarm))
  describeWith(needed[mode], `the root of warm commands (${mode})`, () => {
    it('does not show a directory that took the place of the root, nor one that left it', async () => {
      await using bench = await Workbench.create(mode)
      await bench.file(bench.host('file'), 'before')
      expect((await bench.run('cat file')).stdout).toBe('before')
      await rename(bench.host(), `${bench.host()}-away`)
      await bench.directory(bench.host())
      await bench.file(bench.host('file'), 'after')
      expect((await bench.run(`cat file; ${own}`)).stdout).toBe(`after${warm}`)
    })
  })

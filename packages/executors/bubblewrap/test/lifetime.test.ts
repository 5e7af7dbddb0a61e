/** @module-tag all */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isWorkspaceError } from '@ws/core'
import { describeWith, rounds, withTimeToBegin } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { eventually, outerProcesses, processesWith } from './support/processes.ts'
import type { Order } from './support/start-and-wait.ts'
import { isWarm, modes, namesBelow, needed, Workbench, tagsIn } from './support/workbench.ts'

const helper = join(import.meta.dirname, 'support/start-and-wait.ts')

/** Five kinds of processes that try to outlive a command; `marker` is an argument of each. */
function survivors(marker: string): string {
  return [
    `sleep ${marker} &`,
    `setsid sleep ${marker} &`,
    `(setsid sh -c 'sleep ${marker} & exec sleep ${marker}' &)`,
    `(trap "" TERM HUP INT; exec sleep ${marker}) &`,
    `nohup sleep ${marker} >/dev/null 2>&1 &`,
    `until [ "$(grep -lz "^${marker}$" /proc/[0-9]*/cmdline 2>/dev/null | wc -l)" -ge 5 ]; do sleep 0.01; done`,
    'echo ready',
  ].join('\n')
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

for (const mode of modes) {
  describeWith(needed[mode], `the end of a command (${mode})`, { tags: tagsIn(mode) }, () => {
    let bench: Workbench
    let marker: string
    beforeEach(async () => {
      bench = await Workbench.create(mode)
      marker = `3${Math.floor(Math.random() * 1e8)}`
    })
    afterEach(() => bench[Symbol.asyncDispose]())

    async function startSurvivors(options = {}) {
      const running = await bench.spawn(`${survivors(marker)}; sleep ${marker}`, options)
      for await (const chunk of running.stdout) if (Buffer.from(chunk).includes('ready')) break
      expect(processesWith(marker).length).toBeGreaterThanOrEqual(5)
      return running
    }

    it('takes the processes that it left running with it', async () => {
      const { exitCode, stdout } = await bench.run(survivors(marker))
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'ready\n' })
      expect(processesWith(marker)).toEqual([])
    })

    it('comes with a timeout, which ends the whole tree', async () => {
      const result = await bench.run(`${survivors(marker)}; sleep ${marker}`, { timeout: 10_000 })
      expect(result).toMatchObject({ timedOut: true, exitCode: null, stdout: 'ready\n' })
      expect(processesWith(marker)).toEqual([])
    })

    it('is polite first: the command may clean up within its grace', async () => {
      const command = 'trap "echo cleaned; exit 7" TERM; echo ready; while :; do sleep 0.01; done'
      const running = await bench.spawn(command, { killGrace: 10_000 })
      for await (const chunk of running.stdout) if (Buffer.from(chunk).includes('ready')) break
      expect(running.kill('SIGTERM')).toBe(true)
      expect(await running.wait()).toMatchObject({ exitCode: 7, signal: null, stdout: 'ready\ncleaned\n' })
      expect(running.kill()).toBe(false)
    })

    it('comes for who ignores it, when the grace is over', async () => {
      const command = 'trap "" TERM; echo ready; while :; do sleep 0.01; done'
      const run = (timeout: number) => bench.run(command, { timeout, killGrace: 100 })
      const result = await withTimeToBegin(300, run, ({ stdout }) => stdout.includes('ready'))
      expect(result).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGKILL' })
    })

    it('comes with SIGKILL, for the whole tree', async () => {
      const running = await startSurvivors()
      expect(running.kill('SIGKILL')).toBe(true)
      expect(await running.wait()).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: false })
      expect(processesWith(marker)).toEqual([])
    })

    it('comes with an abort, which rejects with its reason', async () => {
      const controller = new AbortController()
      const running = await startSurvivors({ signal: controller.signal })
      controller.abort(new Error('enough'))
      await expect(running.wait()).rejects.toThrow('enough')
      expect(processesWith(marker)).toEqual([])
      await expect(bench.run('true', { signal: controller.signal })).rejects.toThrow('enough')
    })

    it('comes when the executor is closed; then nothing can be started', async () => {
      const running = await startSurvivors()
      await bench.executor.close()
      expect(processesWith(marker)).toEqual([])
      expect(await running.wait()).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
      await expect(bench.run('true')).rejects.toSatisfy((error) => isWorkspaceError(error, 'ECLOSED'))
    })

    it('comes when bubblewrap is killed', async () => {
      const running = await startSurvivors()
      const [outer] = outerProcesses(marker, mode)
      if (outer === undefined) throw new Error('bubblewrap was not found')
      process.kill(outer.pid, 'SIGKILL')
      await expect(running.wait()).rejects.toSatisfy((error) => isWorkspaceError(error, 'EIO'))
      expect(processesWith(marker)).toEqual([])
    })

    it('comes when bubblewrap is killed at any moment of the start', { tags: 'rounds' }, async () => {
      for (const _ of rounds({ quick: 4, seconds: 5 })) {
        let isOver = false
        const outcome = bench.run(`sleep ${marker}`).then(
          () => (isOver = true),
          () => (isOver = true),
        )
        await eventually(() => outerProcesses(marker, mode).length > 0)
        const later = performance.now() + Math.random() * 15
        while (performance.now() < later) await new Promise((resolve) => setImmediate(resolve))
        const killed = await eventually(() => {
          // a command that was not handed over yet starts in a sandbox of its own
          for (const { pid } of outerProcesses(marker, mode)) killIfThere(pid)
          return isOver
        })
        expect(killed).toBe(true)
        await outcome
        expect(processesWith(marker)).toEqual([])
      }
    })

    function startHelper(count: number, command: string, leaves = false) {
      const { owner } = bench.scratch
      const request = { command, cwd: bench.root, env: {}, login: false, killGrace: 100, maxOutputBytes: 1000 }
      const order: Order = { owner, root: bench.root, warm: isWarm(mode), plan: bench.plan(), request, count, leaves }
      const node = spawn(process.execPath, ['--conditions=@ws/source', helper, JSON.stringify(order)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const said = async (word: string) => {
        for await (const chunk of node.stdout) if (String(chunk).includes(word)) return
      }
      return { node, said }
    }

    // a sandbox that is kept for the next command ends after 60 seconds, and the program with it
    it('lets a program end that does not close the executor', { timeout: 30_000 }, async () => {
      const { node } = startHelper(2, 'echo ready', true)
      node.stdout.resume()
      expect(await once(node, 'exit')).toEqual([0, null])
    })

    it('comes when the process that started it is killed; nothing is left on the disk', async () => {
      const { node, said } = startHelper(2, survivors(marker) + `; sleep ${marker}`)
      await said('ready')
      node.kill('SIGKILL')
      await once(node, 'exit')
      expect(await eventually(() => processesWith(marker).length === 0)).toBe(true)
      await expect.poll(() => namesBelow(bench.host())).toEqual([])
      expect((await readdir(bench.scratch.path)).sort()).toEqual(['outside', 'tmp', 'workspace'])
      expect((await readdir(tmpdir())).filter((name) => name.startsWith('.ws-'))).toEqual([])
    })

    it('comes when that is killed at any moment of the start', { tags: 'rounds' }, async () => {
      for (const _ of rounds({ quick: 2, seconds: 5 })) {
        const { node, said } = startHelper(4, `sleep ${marker}; echo ready`)
        await said('attached')
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 40))
        node.kill('SIGKILL')
        await once(node, 'exit')
        expect(await eventually(() => processesWith(marker).length === 0)).toBe(true)
      }
    })
  })
}

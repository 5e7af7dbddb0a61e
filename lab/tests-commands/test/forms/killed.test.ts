import type { AccessEvent } from '@ws/core'
import { getCommandResult } from '@ws/core/executor'
import { component, describeWith, processesWith } from '@ws/test-fixtures'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

import { openSite } from '../doors/site.ts'
import { everywhere } from './executors.ts'

/** The child of this process that another one lies below: the sandbox's own, seen from here. */
function outermostAbove(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  if (parent <= 1) throw new Error('it is none of ours')
  return parent === process.pid ? pid : outermostAbove(parent)
}

// Without a supervisor that the kernel ends with it, only processes that are left could report the kill. The sanitizing
// executor declares `none`.
const held = everywhere.filter(({ name }) => !/sanitize|virtual/.test(name))

for (const { name, root, components, create } of held) {
  describeWith(components.map(component), `a sandbox that is killed: ${name}`, () => {
    it('[LS13, RU9] is an error that says what to do, leaves nobody, and the next command runs', async () => {
      await using site = await openSite({ root, executor: create() })
      const events: AccessEvent[] = []
      site.workspace.on('access', (event) => events.push(event))
      const word = `killed${Math.random().toString(36).slice(2)}`
      const running = await site.workspace.spawn(
        ['sh', '-c', 'sh -c "while :; do sleep 0.1; done" $0 & echo up; wait', word],
        { login: false, shell: 'sh' },
      )
      for await (const chunk of running.stdout) if (Buffer.from(chunk).includes('up')) break
      process.kill(outermostAbove(processesWith(word)[0]?.pid ?? 0), 'SIGKILL')
      const error: unknown = await running.wait().catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'EIO', remedy: expect.stringContaining('run it again') })
      expect(String(error)).toContain('the sandbox was killed')
      expect(getCommandResult(error)).toMatchObject({ exitCode: null, signal: 'SIGKILL', stdout: 'up\n' })
      expect(events.at(-1)).toMatchObject({ outcome: 'failed', code: 'EIO', signal: 'SIGKILL', stdoutBytes: 3 })
      await expect.poll(() => processesWith(word)).toEqual([])
      expect(await site.run('echo runs')).toBe('runs\n')
    })
  })
}

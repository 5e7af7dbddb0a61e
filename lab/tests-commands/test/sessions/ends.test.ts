/** @module-tag all */
import { component, describeWith } from '@ws/test-fixtures'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { forms, openSite, treeOf } from '../doors/site.ts'
import { holders, noneLeft, stubborn, survivors } from './survivors.ts'
import { waitFor } from './wait-for.ts'

for (const door of forms) {
  describeWith(door.components.map(component), `ends of sessions: ${door.name}`, { tags: [...door.tags] }, () => {
    const open = () => openSite({ root: door.root, executor: door.create() })
    const script = (token: string): string => `${stubborn(token)} echo is-"ready"; sleep 1000`

    it('[LS13] a timeout ends the whole tree', async () => {
      await using site = await open()
      const token = randomUUID()
      const session = await site.workspace.openSession({
        command: script(token),
        shell: 'bash',
        login: false,
        timeout: 5_000,
        killGrace: 100,
      })
      await waitFor(session, 'is-ready')
      expect(survivors(token).length).toBeGreaterThan(0)
      expect((await session.wait()).endedBy).toBe('timeout')
      expect(survivors(token)).toEqual([])
      expect(await treeOf(site.directory)).toEqual(['file.txt'])
    })

    it('[LS13] an idle session is ended with its tree; typing and output put that off', async () => {
      await using site = await open()
      const token = randomUUID()
      const session = await site.workspace.openSession({
        command: `${stubborn(token)} cat`,
        shell: 'bash',
        login: false,
        idleTimeout: 500,
        killGrace: 100,
      })
      const started = performance.now()
      for (let n = 0; n < 4; n += 1) {
        await new Promise((resolve) => setTimeout(resolve, 250))
        await session.write(`${n}\r`)
      }
      expect((await session.wait()).endedBy).toBe('idleTimeout')
      expect(performance.now() - started).toBeGreaterThan(1_400)
      expect(survivors(token)).toEqual([])
    })

    it('[LS13] close and an abort end the whole tree', async () => {
      await using site = await open()
      const token = randomUUID()
      const controller = new AbortController()
      const options = { command: script(token), shell: 'bash', login: false, killGrace: 100 } as const
      const closed = await site.workspace.openSession(options)
      await waitFor(closed, 'is-ready')
      await closed.close()
      expect((await closed.wait()).endedBy).toBe('close')
      expect(survivors(token)).toEqual([])
      const aborted = await site.workspace.openSession({ ...options, signal: controller.signal })
      await waitFor(aborted, 'is-ready')
      const reason = new Error('enough')
      controller.abort(reason)
      await expect(aborted.wait()).rejects.toBe(reason)
      expect(survivors(token)).toEqual([])
    })

    it('a signal reaches the foreground, and closing the workspace ends what is open', async () => {
      await using site = await open()
      const token = randomUUID()
      const command = `trap 'echo caught' USR1; ${stubborn(token)} echo is-"ready"; while :; do sleep 0.1; done`
      const session = await site.workspace.openSession({ command, shell: 'bash', login: false })
      await waitFor(session, 'is-ready')
      expect(session.signal('SIGUSR1')).toBe(true)
      await waitFor(session, 'caught')
      await site.workspace.close()
      expect(survivors(token)).toEqual([])
      expect(await session.wait()).toMatchObject({ endedBy: 'close' })
      await expect(site.workspace.openSession()).rejects.toMatchObject({ code: 'ECLOSED' })
      expect(await noneLeft(() => holders(process.pid))).toEqual([])
    })

    it('[LS13] kill -9 of the process that holds the workspace leaves no process of a session', async () => {
      await using site = await open()
      const token = randomUUID()
      const file = fileURLToPath(new URL('holder.ts', import.meta.url))
      const argv = ['--conditions=@ws/source', file, door.name, site.directory, script(token)]
      const holder = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
      try {
        for await (const chunk of holder.stdout) if (String(chunk).includes('ready')) break
        expect(survivors(token).length).toBeGreaterThan(0)
        expect(holders(holder.pid ?? 0)).toHaveLength(1)
      } finally {
        holder.kill('SIGKILL')
        if (holder.exitCode === null && holder.signalCode === null) await once(holder, 'exit')
      }
      expect(await noneLeft(() => [...survivors(token), ...holders(holder.pid ?? 0)])).toEqual([])
      // Reserved names go when the last process has.
      await expect.poll(() => treeOf(site.directory)).toEqual(['file.txt'])
    })

    it('no command and no other session can reach a terminal', async () => {
      await using site = await open()
      await using session = await site.workspace.openSession({ command: 'echo up; cat', login: false })
      await waitFor(session, 'up')
      const look = 'ls -l /proc/self/fd; ls /dev/pts 2>/dev/null | grep -v ptmx; :'
      const seen = await site.attempt(look)
      expect(seen.stdout).not.toMatch(/ptmx|pts\/\d|^\d+$/m)
      const other = await site.workspace.openSession({ command: 'ls -l /proc/self/fd; :', login: false })
      await other.wait()
      expect(other.read().text).not.toContain('ptmx')
      expect(new Set(other.read().text.match(/pts\/\d+/g)).size).toBe(1)
      // TIOCSTI: a program types into its own terminal as if a user had.
      const inject = `python3 -c "import fcntl; fcntl.ioctl(0, 0x5412, b'x')"`
      const injecting = await site.workspace.openSession({ command: inject, login: false })
      expect((await injecting.wait()).exitCode).toBe(1)
      expect(injecting.read().text).toContain('Operation not permitted')
    })
  })
}

/** @module-tag all */
import { component, describeWith } from '@ws/test-fixtures'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { noneLeft as noneLeftOf, survivors } from '../sessions/survivors.ts'
import { forms, openSite, treeOf } from './site.ts'

/** Waits until no process of a command is left; then returns the survivors. */
const noneLeft = (token: string): Promise<string[]> => noneLeftOf(() => survivors(token))

const stubborn = (token: string): string =>
  [
    `bash -c 'trap "" TERM INT HUP; while :; do sleep 1; done' ${token}-term &`,
    `setsid bash -c 'while :; do sleep 1; done' ${token}-setsid &`,
    `(setsid bash -c 'bash -c "while :; do sleep 1; done" ${token}-double &' &)`,
    `(for i in 1 2 3 4 5; do (bash -c 'while :; do sleep 1; done' ${token}-$i &); done)`,
  ].join('\n')

for (const door of forms) {
  describeWith(door.components.map(component), `ends: ${door.name}`, { tags: [...door.tags] }, () => {
    const open = () => openSite({ root: door.root, executor: door.create() })

    it('[RP18] after a normal exit nothing survives and nothing is left on disk', async () => {
      await using site = await open()
      const token = randomUUID()
      const result = await site.attempt(`${stubborn(token)}\nsleep 0.2; echo started`)
      expect(result.stdout).toContain('started')
      expect(await noneLeft(token)).toEqual([])
      expect(await treeOf(site.directory)).toEqual(['file.txt'])
    })

    it('[RP18] a timeout ends the whole tree and says so', async () => {
      await using site = await open()
      const token = randomUUID()
      const result = await site.workspace.exec(`${stubborn(token)}\nwait; sleep 1000`, {
        login: false,
        timeout: 700,
        killGrace: 200,
      })
      expect(result.timedOut).toBe(true)
      expect(await noneLeft(token)).toEqual([])
      expect(await treeOf(site.directory)).toEqual(['file.txt'])
    })

    it('an abort rejects with its reason, after the tree has ended', async () => {
      await using site = await open()
      const token = randomUUID()
      const controller = new AbortController()
      const running = await site.workspace.spawn(`${stubborn(token)}\necho ready; sleep 1000`, {
        login: false,
        signal: controller.signal,
        killGrace: 100,
      })
      for await (const chunk of running.stdout) if (Buffer.from(chunk).toString().includes('ready')) break
      const reason = new Error('enough')
      controller.abort(reason)
      await expect(running.wait()).rejects.toBe(reason)
      expect(survivors(token)).toEqual([])
    })

    it('closing the workspace ends what runs', async () => {
      const token = randomUUID()
      await using site = await open()
      const running = await site.workspace.spawn(`${stubborn(token)}\necho ready; sleep 1000`, { login: false })
      for await (const chunk of running.stdout) if (Buffer.from(chunk).toString().includes('ready')) break
      await site.workspace.close()
      expect(survivors(token)).toEqual([])
      const result = await running.wait()
      expect(result.exitCode).not.toBe(0)
    })

    it('[RP18] kill -9 of the process that holds the workspace leaves no process and no dropping', async () => {
      await using site = await open()
      const token = randomUUID()
      const script = fileURLToPath(new URL('holder.ts', import.meta.url))
      const holder = spawn(
        process.execPath,
        ['--conditions=@ws/source', script, door.name, site.directory, `${stubborn(token)}\necho ready; sleep 1000`],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      try {
        let output = ''
        for await (const chunk of holder.stdout) {
          output += String(chunk)
          if (output.includes('ready')) break
        }
        expect(survivors(token).length).toBeGreaterThan(0)
      } finally {
        holder.kill('SIGKILL')
        if (holder.exitCode === null && holder.signalCode === null) await once(holder, 'exit')
      }
      expect(await noneLeft(token)).toEqual([])
      // Reserved names go when the last process has.
      await expect.poll(() => treeOf(site.directory)).toEqual(['file.txt'])
    })

    it('[RP16] no secret of this process reaches a command, its environment or its /proc', async () => {
      const token = randomUUID()
      process.env['WS_TEST_SECRET'] = token
      try {
        await using site = await open()
        const seen = await site.attempt(
          'env; cat /proc/self/environ /proc/1/environ /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"',
        )
        expect(seen.stdout).not.toContain(token)
        expect(seen.stdout).toContain('USER=user')
      } finally {
        delete process.env['WS_TEST_SECRET']
      }
    })

    it('[LS14] start-up files of the workspace are read by a login shell, and by no other', async () => {
      await using site = await openSite({
        root: door.root,
        executor: door.create(),
        files: { '.bash_profile': 'export FROM_PROFILE=yes\n', '.bashrc': 'export FROM_RC=yes\n' },
      })
      expect(await site.run('echo "$FROM_PROFILE/$FROM_RC"', { login: true })).toBe('yes/\n')
      expect(await site.run('echo "$FROM_PROFILE/$FROM_RC"')).toBe('/\n')
    })

    it('output is captured with constant memory, head and tail, and counted', async () => {
      await using site = await open()
      const result = await site.workspace.exec('echo first; head -c 50000000 /dev/zero | tr "\\0" x; echo; echo last', {
        login: false,
        maxOutputBytes: 10_000,
      })
      expect(result.truncated).toBe(true)
      expect(result.stdoutBytes).toBe(50_000_012)
      expect(result.stdout.startsWith('first\n')).toBe(true)
      expect(result.stdout.endsWith('last\n')).toBe(true)
      expect(result.stdout.length).toBeLessThan(12_000)
    })
  })
}

/** @module-tag all */
import { rules } from '@ws/core'
import type { AccessEvent } from '@ws/core'
import { component, describeWith } from '@ws/test-fixtures'
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { forms, openSite } from '../doors/site.ts'
import { waitFor } from './wait-for.ts'

for (const door of forms) {
  describeWith(door.components.map(component), `sessions: ${door.name}`, { tags: [...door.tags] }, () => {
    const open = (files?: Readonly<Record<string, string>>) =>
      openSite({ root: door.root, executor: door.create(), ...(files ? { files } : {}) })

    it('[LS10] a program has a terminal of its own: isatty, size, /dev/tty, /dev/stderr, and SIGWINCH', async () => {
      await using site = await open()
      const check = [
        'import os, signal, sys',
        'print("tty", [os.isatty(n) for n in range(3)], os.get_terminal_size().columns, os.environ["TERM"])',
        'open("/dev/tty", "w").write("by name\\n"); open("/dev/stderr", "w").write("again\\n")',
        'print("leads", os.tcgetpgrp(0) == os.getpgrp())',
        'signal.signal(signal.SIGWINCH, lambda *a: os.write(1, b"now %d\\n" % os.get_terminal_size()[0]))',
        'print("up", flush=True)',
        'while True: signal.pause()',
      ]
      await site.workspace.write('check.py', check.join('\n'))
      const session = await site.workspace.openSession({
        command: ['python3', 'check.py'],
        login: false,
        columns: 101,
        rows: 31,
      })
      const { before } = await waitFor(session, 'up')
      expect(before).toContain('tty [True, True, True] 101 xterm-256color\r\n')
      expect(before).toContain('by name\r\nagain\r\n')
      expect(before).toContain('leads True')
      session.resize(133, 40)
      await waitFor(session, 'now 133')
      await session.close()
    })

    it('[LS10] an interactive shell has job control: a background job, Ctrl-Z and fg, Ctrl-C', async () => {
      await using site = await open()
      const session = await site.workspace.openSession({ shell: 'bash', login: false, env: { PS1: 'READY> ' } })
      await waitFor(session, 'READY> ')
      await session.write('sleep 1000 &\r')
      await waitFor(session, /\[1\] \d+\r\n[^]*READY> /)
      // The shell takes text that is typed while it still edits a line: hence a word from the program first.
      await session.write("echo ru''ns; cat\r")
      await waitFor(session, 'runs\r\n')
      await session.write('typed\r')
      await waitFor(session, 'typed\r\ntyped\r\n')
      // Where proot traces the shell, a shell that has stopped a job does not always get its terminal back.
      if (!door.components.includes('proot')) {
        await session.write('\x1a')
        await waitFor(session, /Stopped[^]*READY> /)
        await session.write("jobs; echo ba''ck; fg %2\r")
        const { before } = await waitFor(session, /back\r\n[^]*cat\r\n/)
        expect(before).toMatch(/\[1\]-?\s+Running\s+sleep 1000/)
      }
      await session.waitForIdle(200)
      await session.write('\x03')
      await waitFor(session, 'READY> ')
      await session.write('echo "last $?"; exit 3\r')
      await waitFor(session, 'last 130')
      expect(await session.wait()).toEqual({ exitCode: 3, signal: null, endedBy: 'program' })
      expect(session.closed).toBe(true)
    })

    it('[LS10] a python prompt is waited for and answered', async () => {
      await using site = await open()
      const session = await site.workspace.openSession({
        command: 'python3 -q -c "import code; code.interact(banner=str())"',
        login: false,
        env: { PYTHON_BASIC_REPL: '1' },
      })
      await waitFor(session, '>>> ')
      await session.write('6 * 7\r')
      expect((await waitFor(session, /^(\d+)\r$/m)).groups).toEqual(['42'])
      await session.waitForIdle(50)
      await session.write('\x04')
      expect((await session.wait()).exitCode).toBe(0)
    })

    it('[LS4] gives the shell the command behind -lc; `login: false` makes it -c', async () => {
      await using site = await open()
      // The last command of the line is started in place of the shell, so it is the shell's own line that is seen.
      const show = 'tr "\\0" "|" < /proc/$$/cmdline; :'
      const login = await site.workspace.openSession({ command: show, shell: 'bash' })
      await login.wait()
      expect(login.read().text).toMatch(/bash\|-lc\|/)
      expect(login.read().text).toContain(show)
      const plain = await site.workspace.openSession({ command: show, shell: 'bash', login: false })
      await plain.wait()
      expect(plain.read().text).toContain(`bash|-c|${show}|`)
    })

    it('[LS13] what start-up files print is not taken for output of the command', async () => {
      await using site = await open({ '.bash_profile': 'echo NOISE\n', '.zprofile': 'echo NOISE\n' })
      for (const shell of ['bash', 'zsh']) {
        const session = await site.workspace.openSession({ command: 'echo hello; exit 7', shell })
        expect((await session.wait()).exitCode).toBe(7)
        expect(session.read().text).toBe('hello\r\n')
        expect(session.read({ since: 0 }).text).toBe('NOISE\r\nhello\r\n')
        expect(session.commandOffset).toBe(7)
      }
    })

    it('[LS13] an id that is taken, a directory outside, and a session that is gone are typed errors', async () => {
      await using site = await open()
      const { workspace } = site
      const session = await workspace.openSession({ id: 'main', command: 'cat', login: false })
      await expect(workspace.openSession({ id: 'main' })).rejects.toMatchObject({ code: 'EEXIST' })
      await expect(workspace.openSession({ id: 'a b' })).rejects.toMatchObject({ code: 'EINVAL' })
      await expect(workspace.openSession({ cwd: '/../..' })).rejects.toMatchObject({ code: 'EOUTSIDE' })
      await expect(workspace.openSession({ cwd: '/etc' })).rejects.toMatchObject({ code: 'ENOENT' })
      await expect(workspace.openSession({ cwd: 'file.txt' })).rejects.toMatchObject({ code: 'ENOTDIR' })
      await expect(workspace.openSession({ shell: '/bin/cat' })).rejects.toMatchObject({ code: 'EINVAL' })
      await expect(workspace.openSession({ command: ' ' })).rejects.toMatchObject({ code: 'EINVAL' })
      await expect(workspace.openSession({ columns: 0 })).rejects.toMatchObject({ code: 'EINVAL' })
      expect(workspace.sessions().map(({ id }) => id)).toEqual(['main'])
      expect(workspace.session('main')).toBe(session)
      await session.close()
      await expect(session.write('x')).rejects.toMatchObject({ code: 'ECLOSED', remedy: expect.any(String) })
      expect(() => session.resize(80, 24)).toThrow(expect.objectContaining({ code: 'ECLOSED' }))
      expect(() => workspace.session('main')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
      await using again = await workspace.openSession({ id: 'main', command: 'cat', login: false })
      expect(again.closed).toBe(false)
    })

    it('[LS1] [LS10] a large output arrives whole, and the last of it before the end is told', async () => {
      await using site = await open()
      const session = await site.workspace.openSession({
        command: 'seq 1 200000; echo end',
        login: false,
        maxOutputBytes: 4_000_000,
      })
      let bytes = 0
      session.onData((chunk) => (bytes += chunk.length))
      await session.wait()
      const { text, dropped } = session.read()
      expect(dropped).toBe(0)
      expect(text.split('\r\n')).toEqual([...Array.from({ length: 200_000 }, (_, n) => String(n + 1)), 'end', ''])
      expect(bytes).toBe(session.outputBytes)
    })

    it('keeps the last bytes, counts what it dropped, and cuts no character', async () => {
      await using site = await open()
      const session = await site.workspace.openSession({
        command: `python3 -c "print('é€😀' * 20000)"`,
        login: false,
        maxOutputBytes: 10_001,
      })
      await session.wait()
      const { text, next, dropped } = session.read()
      expect(text).not.toContain('\uFFFD')
      expect(text.endsWith('é€😀\r\n')).toBe(true)
      expect(dropped + Buffer.byteLength(text)).toBe(next)
      expect(next).toBe(180_002)
      expect(Buffer.byteLength(text)).toBeGreaterThan(9_990)
    })

    it('typing more than the program reads never blocks, and arrives when it does read', async () => {
      await using site = await open()
      const count = [
        'import hashlib, os, sys, time, tty',
        'tty.setraw(0); os.write(1, b"up"); got = hashlib.sha256(); left = 300000',
        'while not os.path.exists("go"): time.sleep(0.02)',
        'while left:',
        '  data = os.read(0, left); left -= len(data); got.update(data)',
        'os.write(1, got.hexdigest().encode())',
      ]
      await site.workspace.write('count.py', count.join('\n'))
      const session = await site.workspace.openSession({ command: 'python3 count.py', login: false })
      await waitFor(session, 'up')
      const before = performance.now()
      const typed = session.write('y'.repeat(300_000))
      expect(await Promise.race([typed.then(() => 'typed'), session.waitForIdle(200).then(() => 'waits')])).toBe(
        'waits',
      )
      expect(performance.now() - before).toBeLessThan(1_500)
      await site.workspace.write('go', '')
      await typed
      const { match } = await waitFor(session, /[0-9a-f]{64}/)
      expect(match).toBe(createHash('sha256').update('y'.repeat(300_000)).digest('hex'))
    })

    it('the same tree and the same rules as exec', async () => {
      await using site = await openSite({
        root: door.root,
        executor: door.create(),
        files: { 'private/key.txt': 'secret' },
        rules: (at) => [rules.deny(at('private'))],
      })
      const command = 'echo made > by-session.txt; pwd; cat private/key.txt'
      const session = await site.workspace.openSession({ command, login: false })
      expect((await session.wait()).exitCode).toBe(1)
      expect(session.read().text).toMatch(`${site.workspace.root}\r\n`)
      expect(session.read().text).not.toContain('secret')
      expect(await site.workspace.readText('by-session.txt')).toBe('made\n')
    })

    it('[RU9] leaves an audit event when it opens, is refused, and ends', async () => {
      await using site = await open()
      const events: AccessEvent[] = []
      site.workspace.on('access', (event) => events.push(event))
      const session = await site.workspace.openSession({ command: ['echo', 'a b'], login: false })
      await session.wait()
      await expect(site.workspace.openSession({ cwd: 'nowhere' })).rejects.toMatchObject({ code: 'ENOENT' })
      expect(events.filter((event) => event.door === 'exec')).toMatchObject([
        { operation: 'openSession', outcome: 'allowed', command: "echo 'a b'" },
        {
          operation: 'closeSession',
          outcome: 'allowed',
          command: "echo 'a b'",
          exitCode: 0,
          signal: null,
          timedOut: false,
          stdoutBytes: 'a b\r\n'.length,
        },
        { operation: 'openSession', outcome: 'failed', code: 'ENOENT' },
      ])
    })

    it('[RU9] says in the audit that an idle timeout, and which signal, ended it', async () => {
      await using site = await open()
      const events: AccessEvent[] = []
      site.workspace.on('access', (event) => events.push(event))
      const idle = await site.workspace.openSession({ command: 'sleep 60', login: false, idleTimeout: 50 })
      await idle.wait()
      const killed = await site.workspace.openSession({ command: 'sleep 60', login: false })
      killed.kill('SIGKILL')
      await killed.wait()
      expect(events.filter(({ operation }) => operation === 'closeSession')).toMatchObject([
        { outcome: 'allowed', timedOut: true },
        { outcome: 'allowed', timedOut: false, signal: 'SIGKILL', exitCode: null },
      ])
    })
  })
}

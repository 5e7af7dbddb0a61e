/** @module-tag all */
import { component, createScratchDirectory, describeWith, type ComponentName } from '@ws/test-fixtures'
import { once } from 'node:events'
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

import { onTerminal } from './terminal.ts'
import { createProject, startWs, ws } from './ws.ts'

for (const executor of ['bubblewrap', 'proot'] as const satisfies readonly ComponentName[]) {
  // what `ws` adds does not depend on the executor
  const tags = executor === 'bubblewrap' ? [] : ['deep']
  describeWith(component(executor), `ws session with ${executor}`, { tags }, () => {
    const options = (path: string) => ['--root', path, '--at', '/workspace', '--executor', executor]

    it('[LS10] works without a terminal: input is typed, output printed, and the exit code is its own', async () => {
      await using project = await createProject({})
      const typed = [...options(project.path), 'session', '--no-login', '--shell', 'bash']
      const result = await ws(typed, { input: 'pwd; tty -s && echo is"-a-"tty\nexit 5\n' })
      expect(result).toMatchObject({ code: 5, stderr: '' })
      expect(result.stdout).toContain('/workspace\r\nis-a-tty\r\n')
      const cat = await ws([...options(project.path), 'session', '--no-login', '--', 'cat'], { input: 'no newline' })
      expect(cat).toMatchObject({ code: 0, stderr: '' })
      const timed = [
        ...options(project.path),
        '--json',
        'session',
        '--no-stdin',
        '--timeout',
        '300ms',
        '--',
        'sleep 100',
      ]
      expect(await ws(timed)).toMatchObject({ code: 124, stdout: expect.stringContaining('"endedBy":"timeout"') })
      expect((await ws([...options(project.path), 'session', '--cwd', 'nowhere'])).code).toBe(125)
    })

    it.each([
      ['a command', 'echo he""l""lo\n', 'hello\r\n'],
      ['nothing', '', ''],
      ['a line without an end', 'echo he""l""lo', 'hello\r\n'],
      ['a command that takes longer than the input', 'sleep 1; echo he""l""lo\n', 'hello\r\n'],
    ])('[LS10] ends with its input: %s', async (_, input, printed) => {
      await using project = await createProject({})
      for (const shell of ['bash', 'sh']) {
        const typed = [...options(project.path), 'session', '--no-login', '--shell', shell, '--timeout', '20s']
        const result = await ws(typed, { input })
        expect(result, shell).toMatchObject({ code: 0, stderr: '' })
        expect(result.stdout).toContain(printed)
      }
    })

    it('[LS10] takes the terminal of its caller, passes its size on, and puts its mode back', async () => {
      await using project = await createProject({})
      const line = `${options(project.path).join(' ')} session --no-login --shell bash; echo "code $?"; stty -a`
      const terminal = onTerminal(line, { cols: 97, rows: 29 })
      terminal.write('stty size\r')
      await terminal.printed('29 97')
      terminal.write('exit 9\r')
      await terminal.ended
      const text = terminal.text()
      expect(text).toContain('code 9')
      expect(text).toMatch(/[^-]icanon/)
      expect(text).toMatch(/[^-]echo\b/)
    })

    it('leaves no history file in the workspace, which is the home directory', async () => {
      await using project = await createProject({})
      const typed = [...options(project.path), 'session', '--shell', 'bash', '--', 'bash', '-i']
      const result = await ws(typed, { input: 'echo "file $HISTFILE"\nhistory -w; exit 0\n' })
      expect(result.stdout).toContain('file /dev/null')
      expect(await readdir(project.path)).toEqual([])
      const own = await ws([...typed.slice(0, -3), '--env', 'HISTFILE=/workspace/h', '--', 'bash', '-i'], {
        input: 'history -w; exit 0\n',
      })
      expect(own.code).toBe(0)
      expect(await readdir(project.path)).toEqual(['h'])
    })

    it('ps lists what ws runs, kill ends it, and the entry is gone', async () => {
      await using project = await createProject({})
      await using runtime = await createScratchDirectory()
      await chmod(runtime.path, 0o700)
      const env = { XDG_RUNTIME_DIR: runtime.path }
      const running = startWs([...options(project.path), 'exec', '--', 'echo up; sleep 1000'], { env })
      const ended = once(running, 'close')
      for await (const chunk of running.stdout ?? []) if (String(chunk).includes('up')) break
      const listed = JSON.parse((await ws(['ps', '--json'], { env })).stdout) as { pid: number }
      expect(listed).toMatchObject({ pid: running.pid, kind: 'exec', command: 'echo up; sleep 1000' })
      expect((await ws(['ps'], { env })).stdout).toContain('echo up; sleep 1000')
      expect((await ws(['kill', '1'], { env })).code).toBe(2)
      expect((await ws(['kill', String(listed.pid)], { env })).code).toBe(0)
      expect((await ended)[0]).toBe(143)
      expect(await ws(['ps'], { env })).toMatchObject({ code: 0, stdout: '' })
      expect(await readdir(join(runtime.path, 'ws'))).toEqual([])
    })

    it('ps keeps an entry that it cannot read, names it, and lists the others', async () => {
      await using project = await createProject({})
      await using runtime = await createScratchDirectory()
      await chmod(runtime.path, 0o700)
      const env = { XDG_RUNTIME_DIR: runtime.path }
      const running = startWs([...options(project.path), 'exec', '--', 'echo up; sleep 1000'], { env })
      const ended = once(running, 'close')
      for await (const chunk of running.stdout ?? []) if (String(chunk).includes('up')) break
      const entry = (pid: number) => join(runtime.path, 'ws', `${pid}.json`)
      await mkdir(entry(4_194_305)) // larger than any process
      await writeFile(entry(4_194_306), '{"pid":41')
      const shown = await ws(['ps', '--json'], { env })
      expect(shown.code).toBe(1)
      expect(JSON.parse(shown.stdout)).toMatchObject({ pid: running.pid })
      for (const words of [
        '4194305.json of a running ws cannot be read (EISDIR)',
        '4194306.json of a running ws cannot',
      ])
        expect(shown.stderr).toContain(words)
      expect(await ws(['kill', '4194306'], { env })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is kept'),
      })
      expect((await ws(['kill', String(running.pid)], { env })).code).toBe(0)
      await ended
      expect((await readdir(join(runtime.path, 'ws'))).sort()).toEqual(['4194305.json', '4194306.json'])
    })

    it('ps and kill work without XDG_RUNTIME_DIR, by a private directory in the temporary one', async () => {
      await using project = await createProject({})
      await using temporary = await createScratchDirectory()
      const env = { TMPDIR: temporary.path }
      expect(await ws(['ps'], { env })).toMatchObject({ code: 0, stdout: '', stderr: '' })
      const running = startWs([...options(project.path), 'exec', '--', 'echo up; sleep 1000'], { env })
      const ended = once(running, 'close')
      for await (const chunk of running.stdout ?? []) if (String(chunk).includes('up')) break
      const listed = JSON.parse((await ws(['ps', '--json'], { env })).stdout) as { pid: number }
      expect(listed).toMatchObject({ pid: running.pid, kind: 'exec' })
      expect((await ws(['kill', String(listed.pid)], { env })).code).toBe(0)
      expect((await ended)[0]).toBe(143)
      const directory = join(temporary.path, `ws-${process.getuid?.()}`)
      expect((await stat(directory)).mode & 0o777).toBe(0o700)
      expect(await readdir(directory)).toEqual([])
      await chmod(directory, 0o755)
      expect(await ws(['ps'], { env })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('open to other users'),
      })
    })
  })
}

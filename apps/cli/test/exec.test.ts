/** @module-tag all */
import { execFileSync, type ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import {
  component,
  createScratchDirectory,
  describeWith,
  processesWith,
  type ComponentName,
  deep,
} from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createProject, end, startWs, ws } from './ws.ts'

const newToken = () => `70.${Date.now()}${Math.floor(Math.random() * 1e6)}`

for (const executor of ['bubblewrap', 'proot'] as const satisfies readonly ComponentName[]) {
  for (const at of ['/', '/workspace']) {
    // what `ws` adds does not depend on the executor, nor on the place of the root
    const tags = executor === 'bubblewrap' && at === '/' ? [] : ['deep']
    describeWith(component(executor), `ws exec with ${executor} at ${at}`, { tags }, () => {
      const options = (path: string) => ['--root', path, '--at', at, '--executor', executor]

      it('[PC8] [PC7] runs in the root, streams both outputs and ends with the code of the command', async () => {
        await using project = await createProject({ 'a.txt': 'from the API\n' })
        const result = await ws([...options(project.path), 'exec', '--', 'pwd; cat a.txt; echo oops >&2; exit 7'])
        expect(result).toMatchObject({ code: 7, stdout: `${at}\nfrom the API\n`, stderr: 'oops\n' })
      })

      it('[RP18] reads standard input, is binary safe, and leaves nothing on disk', async () => {
        const input = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 11) % 256)
        await using project = await createProject({})
        const result = await ws([...options(project.path), 'exec', '--no-login', '--', 'cat'], { input })
        expect(result.stderr).toBe('')
        expect(result.bytes.equals(Buffer.from(input))).toBe(true)
        expect(await readdir(project.path)).toEqual([])
      })

      it('Ctrl-C ends the command and everything it started, with 130', async () => {
        await using project = await createProject({})
        const token = newToken()
        const child = startWs([
          ...options(project.path),
          'exec',
          '--',
          `sleep ${token} & setsid sleep ${token} & sleep ${token}`,
        ])
        const ended = end(child)
        // not the command line of ws itself
        await expect.poll(() => processesWith(token).length).toBeGreaterThan(1)
        child.kill('SIGINT')
        const { code, stderr } = await ended
        expect(code).toBe(130)
        expect(stderr).not.toMatch(/^ws:/mu)
        await expect.poll(() => processesWith(token)).toEqual([])
      })

      it('[RP18] kill -9 of ws leaves no process and nothing on disk', async () => {
        await using project = await createProject({})
        const token = newToken()
        const command = `sleep ${token} & setsid sleep ${token} & touch started; sleep ${token}`
        const child = startWs([...options(project.path), 'exec', '--', command])
        const ended = end(child)
        await expect.poll(() => existsSync(join(project.path, 'started'))).toBe(true)
        child.kill('SIGKILL')
        await ended
        await expect.poll(() => processesWith(token)).toEqual([])
        // Names that were reserved go when the last process has.
        await expect.poll(() => readdir(project.path)).toEqual(['started'])
      })

      it.runIf(executor === 'bubblewrap')('launches no sandbox for a second command', async () => {
        await using project = await createProject({})
        const started: ChildProcess[] = []
        const note = (message: unknown) => started.push((message as { readonly process: ChildProcess }).process)
        subscribe('child_process', note)
        const { code } = await ws([...options(project.path), 'exec', '--', 'true'])
        unsubscribe('child_process', note)
        expect(code).toBe(0)
        const programs = started.map(({ spawnargs }) =>
          spawnargs.filter((word) => /^\/\S+\/(?:bwrap|perl|true)$|^true$/u.test(word)),
        )
        expect(programs.some((words) => words.includes('true'))).toBe(true)
        // bubblewrap with a program in perl makes sandboxes for later commands
        expect(programs.filter(([first, second]) => first?.endsWith('bwrap') && second?.endsWith('perl'))).toEqual([])
      })

      // what does not depend on the place is shown once
      if (at !== '/' && !deep) return

      it('[LS5] several arguments are one program and its arguments, none of them shell text', async () => {
        await using project = await createProject({})
        const args = ['$(echo x)', 'two words', "it's", '-n']
        const result = await ws([...options(project.path), 'exec', '--', 'printf', '[%s]', ...args])
        expect(result.stdout).toBe(args.map((arg) => `[${arg}]`).join(''))
      })

      it('[RP16] gives the command a clean environment and what --env names', async () => {
        await using project = await createProject({})
        const result = await ws([...options(project.path), 'exec', '--env', 'MINE=a=b', '--', 'env'], {
          env: { PARENT_SECRET: 'parent-secret' },
        })
        expect(result.stdout).toContain('MINE=a=b\n')
        expect(result.stdout).not.toContain('parent-secret')
      })

      it.runIf(executor === 'bubblewrap')(
        '[PC13] names the rule that may be why a command failed in one line, and in the result with --json',
        async () => {
          await using project = await createProject({ 'locked/a.txt': 'as it was\n' })
          await using elsewhere = await createScratchDirectory()
          const config = join(elsewhere.path, 'ws.json')
          await writeFile(config, JSON.stringify({ rules: [{ rule: 'readOnly', path: './locked', name: 'lock' }] }))
          const args = [...options(project.path), '--config', config]
          const command = ['exec', '--', 'echo new > locked/a.txt']
          const { code, stderr } = await ws([...args, ...command])
          expect(code).not.toBe(0)
          const lines = stderr.split('\n').filter((line) => line.startsWith('ws: '))
          expect(lines).toEqual([expect.stringMatching(/^ws: the rule lock may be why: \/\S*locked is read-only/u)])
          const json = await ws([...args, '--json', ...command])
          expect(JSON.parse(json.stdout)).toMatchObject({ hints: [{ rule: 'lock', access: 'read-only' }] })
          // A command that succeeds says nothing.
          expect((await ws([...args, 'exec', '--', 'cat locked/a.txt'])).stderr).toBe('')
        },
      )

      it.runIf(executor === 'bubblewrap')(
        '[RU10] names what a command made against a rule, also when it succeeds',
        async () => {
          await using project = await createProject({})
          await using elsewhere = await createScratchDirectory()
          const config = join(elsewhere.path, 'ws.json')
          await writeFile(config, JSON.stringify({ rules: [{ rule: 'denyGlob', glob: '.env', name: 'secrets' }] }))
          const made = await ws([
            ...options(project.path),
            '--config',
            config,
            'exec',
            '--',
            'mkdir sub; echo x > sub/.env',
          ])
          expect(made.code).toBe(0)
          expect(made.stderr).toMatch(
            /^ws: the rule secrets was not held: \/\S*sub\/\.env: the command made this name;/u,
          )
        },
      )

      it('ends with 124 after a timeout, with 128+n after a signal', async () => {
        await using project = await createProject({})
        const timeout = await ws([...options(project.path), 'exec', '--timeout', '300ms', '--', 'sleep 60'])
        expect(timeout.code).toBe(124)
        const killed = await ws([...options(project.path), 'exec', '--', 'kill -KILL $$'])
        expect(killed.code).toBe(137)
      })

      it('a reader that goes away ends the command quietly', async () => {
        await using project = await createProject({})
        const child = startWs([...options(project.path), 'exec', '--', 'yes'])
        const ended = end(child)
        child.stdout?.once('data', () => child.stdout?.destroy())
        expect(await ended).toMatchObject({ code: 141, stderr: '' })
      })

      it('prints one result with --json', async () => {
        await using project = await createProject({})
        const { code, stdout } = await ws([
          ...options(project.path),
          '--json',
          'exec',
          '--',
          'echo out; echo err >&2; exit 3',
        ])
        expect(code).toBe(3)
        expect(JSON.parse(stdout)).toMatchObject({
          exitCode: 3,
          stdout: 'out\n',
          stderr: 'err\n',
          executor,
          timedOut: false,
        })
      })
    })
  }
}

describe('ws exec', () => {
  it('[PC13] refuses with 125 and one line what nothing here can hold', async () => {
    await using project = await createProject({})
    const args = [
      '--root',
      project.path,
      '--executor',
      'proot',
      '--require',
      'subtrees=interpreter',
      'exec',
      '--',
      'touch x',
    ]
    const { code, stdout, stderr } = await ws(args)
    expect(stderr).toMatch(/^ws: ENOEXECUTOR: [^\n]+\n$/u)
    expect({ code, stdout }).toEqual({ code: 125, stdout: '' })
    expect(await readdir(project.path)).toEqual([])
  })

  it('refuses a blank command and a NUL with one line', async () => {
    await using project = await createProject({})
    for (const command of [' ', '']) {
      const { code, stderr } = await ws(['--root', project.path, 'exec', '--', command])
      expect(stderr).toMatch(/^ws: [A-Z]+: [^\n]+\n$/u)
      expect(code).toBe(125)
    }
  })

  it.runIf(process.getuid?.() === 0)('[RP16] as root runs commands as the owner of the directory', async () => {
    await using project = await createProject({})
    const { code, stdout, stderr } = await ws(['--root', project.path, 'exec', '--', 'id -u; touch made'])
    if (code === 125) expect(stderr).toContain('ENOEXECUTOR')
    else {
      expect(stdout).toBe(`${project.owner.uid}\n`)
      expect(execFileSync('stat', ['-c', '%u', join(project.path, 'made')], { encoding: 'utf8' }).trim()).toBe(
        String(project.owner.uid),
      )
    }
  })
})

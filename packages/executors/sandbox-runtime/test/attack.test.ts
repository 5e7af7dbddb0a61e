import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { rules } from '@ws/core'
import { Processes } from '@ws/sandbox'
import { codeOf, component, createScratchDirectory, describeWith, give } from '@ws/test-fixtures'
import { describe, expect, it, vi } from 'vitest'

import { openWith, put, Site } from './support.ts'

const isLinux = process.platform === 'linux'

/** Runs `host.ts` in a directory. */
function startHost(root: string, command: string) {
  const program = new URL('host.ts', import.meta.url).pathname
  const argv = ['--no-warnings', '--conditions=@ws/source', program, command]
  return spawn(process.execPath, argv, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
}

describeWith(component('sandbox-runtime'), 'sandbox-runtime', () => {
  describe('a write that lands nowhere fails', () => {
    it('in directories that may not be read, at `/`, in the home and in `/tmp`', async () => {
      await using site = await Site.open({})
      for (const directory of ['/', '/home', '/root', '/opt', '/srv', '/tmp', '/var/tmp', '/tmp/claude', '..', '/sys'])
        expect(await site.run(`echo x > ${directory}/ws-lost && echo done`), directory).toMatch(/^[12] /)
      expect(await site.run('mkdir -p ../a/b && echo done')).toMatch(/^1 /)
    })

    it('in a denied directory, also after an attack on its mode', async () => {
      await using site = await Site.open({ 'denied/x': 'SECRET' }, (at) => [rules.deny(at('denied'))])
      for (const attack of [
        '',
        'chmod 777 denied; ',
        'mount -o remount,rw denied; ',
        'umount denied; ',
        'rmdir denied; mkdir denied; ',
      ])
        expect(await site.run(`${attack}echo x > denied/new && echo done; cat denied/*`), attack).not.toMatch(
          /done|SECRET/,
        )
      expect(await readdir(join(site.root, 'denied'))).toEqual(['x'])
    })

    it('in a denied file', async () => {
      await using site = await Site.open({ '.env': 'SECRET' }, (at) => [rules.deny(at('.env'))])
      expect(
        await site.run('echo x > .env && echo done; cat .env && echo done; cp .env copy && echo done'),
      ).not.toContain('done')
      expect(await readFile(join(site.root, '.env'), 'utf8')).toBe('SECRET')
    })
  })

  describe('the library leaves nothing on the host', () => {
    it('where a denied name is missing: it is held, and the directory is as before', async () => {
      await using site = await Site.open({ x: '' }, (at) => [rules.deny(at('.env')), rules.readOnly(at('a/b'))])
      expect(await site.run('echo x > .env && echo done; mkdir -p a/b/c && echo done')).not.toContain('done')
      expect(await readdir(site.root)).toEqual(['x'])
    })

    it('in the working directory of the host, whose names it protects otherwise', async () => {
      await using scratch = await createScratchDirectory()
      const root = await scratch.createDirectory('ws')
      const host = startHost(root, 'mkdir .git; echo x > .git/config; echo x > .bashrc; echo x > .mcp.json; ls -A')
      const output = (await Array.fromAsync(host.stdout)).join('')
      expect(output.trim().split('\n')).toEqual(['.bashrc', '.git', '.mcp.json'])
      expect((await readdir(root)).toSorted()).toEqual(['.bashrc', '.git', '.mcp.json'])
    })

    it('after `close`: no directory, no process', async () => {
      const before = new Set(await readdir(tmpdir()))
      const site = await Site.open({})
      await site.run('echo x > "$TMPDIR/file"; true')
      await site[Symbol.asyncDispose]()
      const left = (await readdir(tmpdir())).filter(
        (name) => name.startsWith('ws-sandbox-runtime-') && !before.has(name),
      )
      expect(left).toEqual([])
    })

    it.runIf(isLinux)(
      'when the host is killed: no process lives on, and the next start removes its directory',
      async () => {
        await using scratch = await createScratchDirectory()
        const root = await scratch.createDirectory('ws')
        const host = startHost(root, '(sleep 61 & setsid sleep 62 & sleep 63) & echo x > begun; sleep 64')
        while (!(await readdir(root)).includes('begun')) await delay(20)
        const directories = (await readdir(tmpdir())).filter((name) => name.includes(`ws-sandbox-runtime-${host.pid}-`))
        expect(directories).toHaveLength(1)
        const below = descendants(host.pid ?? 0)
        expect(below.length).toBeGreaterThan(5)
        host.kill('SIGKILL')
        await once(host, 'exit')
        const lives = () =>
          below.filter(({ pid, startTime }) => Processes.readProcessStat(pid)?.startTime === startTime)
        for (let waited = 0; lives().length > 0 && waited < 10_000; waited += 20) await delay(20)
        expect(lives()).toEqual([])
        await using _next = await Site.open({})
        expect((await readdir(tmpdir())).filter((name) => directories.includes(name))).toEqual([])
      },
    )
  })

  describe('the launcher runs nothing of the workspace', () => {
    it('by variables of the caller, which reach the command alone', async () => {
      await using site = await Site.open({
        'bin/bwrap': '#!/bin/sh\necho x > ../planted',
        'bin/env': '#!/bin/sh\necho x > ../planted',
        profile: 'echo x > ../planted',
      })
      for (const name of ['bin/bwrap', 'bin/env']) await chmod(join(site.root, name), 0o755)
      const profile = join(site.root, 'profile')
      const env = {
        PATH: `${site.root}/bin:/usr/bin:/bin`,
        BASH_ENV: profile,
        ENV: profile,
        LD_PRELOAD: profile,
        UID: '7',
      }
      expect(await site.run('printenv PATH BASH_ENV UID', { env, shell: 'bash' })).toContain(
        `${env.PATH.replaceAll(site.scratch.path, 'BESIDE')}\n`,
      )
      expect(await readdir(site.scratch.path)).toEqual(['ws'])
    })

    it('by a variable whose value the first shell does not take', async () => {
      await using site = await Site.open({})
      expect(await site.run('echo ran', { env: { OPTIND: 'x' }, shell: 'bash' })).toBe('0 ran\n')
    })

    it('by a start-up file in the home of the user', async () => {
      await using scratch = await createScratchDirectory()
      const root = await scratch.createDirectory('ws')
      await put(join(root, '.bashrc'), `echo x > ${scratch.path}/planted`)
      const host = startHost(root, 'echo done')
      expect((await Array.fromAsync(host.stdout)).join('')).toContain('done')
      expect(await readdir(scratch.path)).toEqual(['ws'])
    })

    it('holds secrets in no argument that other users can read', async () => {
      await using site = await Site.open({})
      const running = await site.workspace.spawn('echo x > begun; sleep 5', {
        env: { TOKEN: 'a-secret-value' },
        shell: 'sh',
        login: false,
      })
      while (!(await readdir(site.root)).includes('begun')) await delay(20)
      if (isLinux) {
        const lines = await Promise.all(
          descendants(process.pid).map(({ pid }) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
        )
        expect(lines.join(' ')).not.toContain('a-secret-value')
        expect(lines.join(' ')).toContain('sleep')
      }
      running.kill('SIGKILL')
      await running.wait()
    })
  })

  describe('the directory that all sandboxes of the library share', () => {
    it.runIf(isLinux)('is neither read nor written', async () => {
      const shared = '/tmp/claude'
      const made = await mkdir(shared, { recursive: true })
      const file = join(shared, `ws-test-${process.pid}`)
      await writeFile(file, 'NEEDLE')
      give(file)
      try {
        await using site = await Site.open({})
        expect(await site.run(`cat ${file}; echo x > ${file}; ls ${shared}; rm ${file}`)).not.toContain('NEEDLE')
        expect(await readFile(file, 'utf8')).toBe('NEEDLE')
      } finally {
        await rm(made ?? file, { recursive: true })
      }
    })
  })

  it('[PC12] a mount at another path than its own is refused, with the remedy', async () => {
    expect(await codeOf(Site.open({}, undefined, { mounts: undefined as never }))).toBe('EINVAL')
    await using site = await Site.open({})
    await using other = await Site.open({})
    const { createLocalAdapter } = await import('@ws/adapter-local')
    const { createWorkspace } = await import('@ws/core')
    const { createSandboxRuntimeExecutor } = await import('../src/index.ts')
    const at = async (path: string) =>
      createWorkspace({
        mounts: [{ at: path, adapter: () => createLocalAdapter({ root: site.root, owner: site.scratch.owner }) }],
        executors: [createSandboxRuntimeExecutor()],
      })
    await expect(at('/workspace')).rejects.toMatchObject({
      code: 'ENOEXECUTOR',
      remedy: expect.stringContaining('real path'),
    })
    await using elsewhere = await at(other.root)
    await expect(elsewhere.exec('true')).rejects.toMatchObject({
      code: 'EUNENFORCEABLE',
      remedy: expect.stringContaining('real path'),
    })
  })

  it('`untrusted` is refused: rules inside a mount hold by name only', async () => {
    expect(await codeOf(Site.open({}, undefined, { require: 'untrusted' }))).toBe('ENOEXECUTOR')
  })

  it('options: variables and tools are taken in, and what cannot be held is refused', async () => {
    // a tool cannot lie in `/tmp`
    const host = await realpath(await mkdtemp('/var/tmp/ws-tool-'))
    vi.stubEnv('WS_TAKEN', 'taken')
    vi.stubEnv('WS_LEFT', 'left')
    try {
      await chmod(host, 0o755)
      await writeFile(join(host, 'ws-tool'), '#!/bin/sh\necho "a tool: $WS_TAKEN $WS_LEFT"\n', { mode: 0o755 })
      await using site = await openWith({ env: ['WS_TAKEN'], tools: [{ host }] })
      expect(await site.run('ws-tool')).toBe('0 a tool: taken \n')
      expect(await site.run(`echo x > ${host}/new && echo done`)).not.toContain('done')
      expect(await codeOf(openWith({ tools: [{ host, at: '/opt/tool' }] }))).toBe('EINVAL')
      expect(await codeOf(openWith({ network: { allow: ['example.com'] } } as never))).toBe('EUNENFORCEABLE')
    } finally {
      vi.unstubAllEnvs()
      await rm(host, { recursive: true })
    }
  })

  it('two workspaces of one process have their own lists', async () => {
    await using one = await Site.open({ a: 'ONE', b: 'one' }, (at) => [rules.deny(at('a'))])
    await using two = await Site.open({ a: 'two', b: 'TWO' }, (at) => [rules.deny(at('b'))])
    const all = await Promise.all(
      [one, two, one, two].map((site) => site.run(`cat a b ${one.root}/b ${two.root}/a 2> /dev/null`)),
    )
    expect(all).toEqual(['1 oneone', '1 twotwo', '1 oneone', '1 twotwo'])
  })
})

function descendants(root: number): Processes.ProcessStat[] {
  const all = Processes.listProcesses()
  const below = new Set([root])
  for (let size = 0; size !== below.size; ) {
    size = below.size
    for (const { pid, parent } of all) if (below.has(parent)) below.add(pid)
  }
  return all.filter(({ pid }) => pid !== root && below.has(pid))
}

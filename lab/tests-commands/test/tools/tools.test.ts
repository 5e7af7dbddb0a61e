import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, isWorkspaceError } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor, type BubblewrapExecutorOptions } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { component, createScratchDirectory, describeWith, put } from '@ws/test-fixtures'
import { chmod, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'

import { doors, openSite } from '../doors/site.ts'

/** A version manager's directory, with a program that only it has. */
async function createTool(options: { readonly bin?: boolean } = {}) {
  const scratch = await createScratchDirectory({ prefix: 'ws-tool-' })
  const host = join(scratch.path, 'versions/1.0')
  const program = join(host, options.bin === false ? 'own-tool' : 'bin/own-tool')
  await put(program, '#!/bin/sh\necho "own-tool $0"\n', scratch.path)
  await chmod(program, 0o755)
  return { ...scratch, host, program }
}

type Tools = NonNullable<BubblewrapExecutorOptions['tools']>

for (const door of doors) {
  const create = (tools: Tools): Executor =>
    door.kernel ? createBubblewrapExecutor({ tools }) : createProotExecutor({ tools })

  describeWith(door.components.map(component), `tools: ${door.name}`, { tags: [...door.tags] }, () => {
    it('[LS9, RP8] are on PATH, at the place that was given, and at their own without', async () => {
      await using tool = await createTool()
      await using flat = await createTool({ bin: false })
      for (const [given, at] of [
        [{ host: tool.host, at: '/opt/tool' }, '/opt/tool/bin'],
        [{ host: flat.host, at: '/opt/flat' }, '/opt/flat'],
      ] as const) {
        await using site = await openSite({ root: door.root, executor: create([given]) })
        expect(await site.run('own-tool', { login: true })).toBe(`own-tool ${at}/own-tool\n`)
        expect((await site.attempt('no-such-tool')).exitCode).toBe(127)
      }
      // Without `at`, where it is on this machine; scratch directories are below /tmp, which is the workspace's.
      await using site = await openSite({ root: door.root, executor: create([{ host: '/var/lib' }]) })
      expect(await site.run('case $PATH in */.bin:/var/lib:/usr*) ls -d /var/lib;; esac')).toBe('/var/lib\n')
    })

    it('cannot be changed by commands, and leave nothing in the workspace', async () => {
      await using tool = await createTool()
      const before = await readFile(tool.program, 'utf8')
      await using site = await openSite({ root: door.root, executor: create([{ host: tool.host, at: '/opt/tool' }]) })
      const tries = ['echo x > bin/own-tool', 'rm bin/own-tool', 'touch new', 'mv bin bin2', 'chmod 0 bin/own-tool']
      // Modes of a user's own files can be changed where no mount is the kernel's own: that is declared.
      const held = door.kernel ? tries : tries.slice(0, -1)
      for (const one of held) expect((await site.attempt(`cd /opt/tool && ${one}`)).exitCode, one).not.toBe(0)
      expect(await readFile(tool.program, 'utf8')).toBe(before)
      expect(await site.run('ls')).toBe('file.txt\n')
    })

    it('that nobody could see are refused at once: missing, no directory, relative, at a place that is taken', async () => {
      await using tool = await createTool()
      await symlink('nowhere', join(tool.path, 'dangling'))
      const bad: readonly (readonly [unknown, string])[] = [
        [{ host: join(tool.path, 'missing'), at: '/opt/x' }, '/opt/x'],
        [{ host: join(tool.path, 'dangling'), at: '/opt/x' }, '/opt/x'],
        [{ host: tool.program, at: '/opt/x' }, 'not a directory'],
        [{ host: 'relative' }, 'absolute'],
        [{}, 'absolute'],
        [null, 'object'],
        [{ host: tool.host, at: '/' }, 'cannot be at'],
        [{ host: tool.host, at: '/opt/../etc' }, ''],
        ...['/usr/local', '/tmp/x', '/etc', '/proc/x', '/dev', '/run/x', '/bin'].map(
          (at) => [{ host: tool.host, at }, 'cannot be at'] as const,
        ),
      ]
      for (const [given, reason] of bad) {
        const error = attempt(() => create([given as Tools[number]]))
        expect(isWorkspaceError(error, 'EINVAL') && error.reason.includes(reason), JSON.stringify(given)).toBe(true)
        expect(String(error)).not.toContain(tool.path)
      }
      const twice = [
        { host: tool.host, at: '/opt/x' },
        { host: tool.host, at: '/opt/x/y' },
      ]
      expect(
        isWorkspaceError(
          attempt(() => create(twice)),
          'EINVAL',
        ),
      ).toBe(true)
      expect(
        isWorkspaceError(
          attempt(() => create('no list' as never)),
          'EINVAL',
        ),
      ).toBe(true)
    })

    it('over a place of the workspace are refused', async () => {
      await using tool = await createTool()
      // A name at the root that commands need for a tool excludes the executor.
      const places =
        door.root === '/'
          ? { '/workspace/x': 'EINVAL', '/.solven/skills': 'ENOEXECUTOR' }
          : { '/workspace/tool': 'EINVAL', '/workspace': 'EINVAL' }
      for (const [at, code] of Object.entries(places)) {
        const executor = create([{ host: tool.host, at }])
        const running = openSite({ root: door.root, skills: true, executor }).then(async (site) => {
          await using open = site
          await open.workspace.exec('true')
        })
        await expect(running, at).rejects.toMatchObject({ code })
      }
    })

    it('[HO7] are refused where a command could have exchanged them, and follow links of this machine', async () => {
      await using tool = await createTool()
      const { directory, ...site } = await openSite({ root: door.root, executor: door.create() })
      await using _site = site
      await site.run(`mkdir own; ln -s ${tool.host} tools; ln -s ../.. up`)
      const links = { current: 'versions/1.0', way: join(directory, 'tools'), round: join(directory, 'up') }
      for (const [name, target] of Object.entries(links)) await symlink(target, join(tool.path, name))
      const run = async (host: string) => {
        const adapter = () => createLocalAdapter({ root: directory })
        const executors = [create([{ host, at: '/opt/tool' }])]
        await using workspace = await createWorkspace({ mounts: [{ at: door.root, adapter }], executors })
        return await workspace.exec('/opt/tool/bin/own-tool')
      }
      const wrong = ['own', 'tools', 'tools/bin', 'own/../tools', 'up/threads/t12'].map(
        (name) => `${directory}/${name}`,
      )
      for (const host of [...wrong, join(tool.path, 'way'), join(tool.path, 'round'), directory]) {
        const error: unknown = await run(host).catch((caught: unknown) => caught)
        expect(isWorkspaceError(error, 'EINVAL') && error.reason, host).toContain('commands could exchange it')
        expect(String(error)).not.toContain(tool.path)
      }
      expect(await run(join(tool.path, 'current'))).toMatchObject({ stdout: 'own-tool /opt/tool/bin/own-tool\n' })
    })

    it('that commands may not enter are refused, without their host path', async () => {
      await using tool = await createTool()
      await chmod(join(tool.path, 'versions'), 0o000)
      try {
        const error: unknown = await openSite({
          root: door.root,
          executor: create([{ host: tool.host, at: '/opt/x' }]),
        }).catch((caught: unknown) => caught)
        expect(isWorkspaceError(error)).toBe(true)
        expect(String(error)).toContain('/opt/x')
        expect(String(error)).not.toContain(tool.path)
      } catch (error) {
        // An ordinary user cannot even look at it: the executor is refused.
        if (process.getuid?.() === 0 || !isWorkspaceError(error, 'EINVAL')) throw error
      } finally {
        await chmod(join(tool.path, 'versions'), 0o755)
      }
    })
  })
}

describeWith(component('proot'), 'tools where nothing holds them read-only', () => {
  it('are refused when commands could change them', async () => {
    await using tool = await createTool()
    const executor = createProotExecutor({ landlock: 'off', tools: [{ host: tool.host, at: '/opt/tool' }] })
    await expect(openSite({ root: '/', executor })).rejects.toMatchObject({
      code: 'ENOEXECUTOR',
      reason: expect.stringContaining('nothing holds it read-only'),
      remedy: expect.stringContaining('bubblewrap'),
    })
  })
})

function attempt(action: () => unknown): unknown {
  try {
    return action()
  } catch (error) {
    return error
  }
}

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, type WorkspaceOptions } from '@ws/core'
import type { CommandRequest, Executor } from '@ws/core/executor'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { doors, openSite } from './doors/site.ts'

/** The cache that an executor is told of. */
async function cacheOf(options: Partial<WorkspaceOptions>): Promise<string | undefined> {
  let cache: string | undefined
  const virtual = createVirtualExecutor()
  const executor: Executor = {
    ...virtual,
    async attach(view) {
      const attached = await virtual.attach(view)
      const spawn = (request: CommandRequest, plan: Parameters<typeof attached.spawn>[1]) => {
        cache = request.cache
        return attached.spawn(request, plan)
      }
      return { ...attached, guarantees: attached.guarantees, spawn, close: () => attached.close() }
    },
  }
  const mounts = ['/workspace', '/cache'].map((at) => ({ at, adapter: () => createMemoryAdapter() }))
  await using workspace = await createWorkspace({ mounts, executors: [executor], ...options })
  await workspace.exec('true')
  return cache
}

describe('the directory for caches', () => {
  it.each<[Partial<WorkspaceOptions>, string | undefined]>([
    [{}, '/tmp/.cache'],
    [{ commands: { cache: 'scratch' } }, '/tmp/.cache'],
    [{ commands: { cache: '/cache' } }, '/cache'],
    [{ commands: { cache: '.cache' } }, '/workspace/.cache'],
    [{ commands: { cache: '/workspace/a/./b//' } }, '/workspace/a/b'],
    [{ scratch: false }, undefined],
    [{ scratch: false, commands: { cache: '/cache' } }, '/cache'],
    [{ rules: [rules.withinOutput('/workspace/out')] }, '/tmp/.cache'],
  ])('[RP9] of %j is %j', async (options, expected) => {
    expect(await cacheOf(options)).toBe(expected)
  })

  it.each<[Partial<WorkspaceOptions>, RegExp]>([
    [{ scratch: false, commands: { cache: 'scratch' } }, /EINVAL.*no `\/tmp` of its own.*give a directory/su],
    [{ commands: { cache: '/elsewhere' } }, /EROFS.*\/elsewhere.*write below `\/workspace`/su],
    [{ commands: { cache: '/usr/cache' } }, /\/usr\/cache/u],
    [{ commands: { cache: '' } }, /`commands.cache` must be/u],
    [{ commands: { cache: '../x' } }, /EROFS.*\/x/u],
    [{ commands: { cache: '/workspace/../x' } }, /EINVAL.*`\.\.`/u],
    [
      { commands: { cache: '/cache' }, rules: [rules.readOnly('/cache')] },
      /EROFS|EACCES.*\/cache.*readOnly\(\/cache\)/su,
    ],
  ])('is refused in one sentence: %j', async (options, message) => {
    await expect(cacheOf(options)).rejects.toThrow(message)
  })

  it('is no option of a single command', async () => {
    const mounts = [{ at: '/', adapter: () => createMemoryAdapter() }]
    await using workspace = await createWorkspace({ mounts, executors: [createVirtualExecutor()] })
    await expect(workspace.exec('true', { cache: '/x' } as object)).rejects.toThrow(/`cache` is not an option/u)
  })
})

const sanitize = {
  name: 'sanitize',
  root: '/workspace' as const,
  components: ['perl'] as const,
  create: () => createSanitizeExecutor({ trustPrograms: 'all' }),
}

/** Lines that leave something in HOME. */
const lines: Readonly<Record<string, string>> = {
  npm: 'mkdir -p dep && echo "{\\"name\\":\\"dep\\",\\"version\\":\\"1.0.0\\"}" > dep/package.json && cp dep/package.json . && npm install --offline ./dep',
  node: `python3 -c 'import pty; pty.spawn(["node", "-i", "-e", "process.exit()"])' < /dev/null`,
  sqlite3: 'sqlite3 a.db "create table t(a)"',
  bash: 'printf "true\\nexit\\n" | bash -i',
}

for (const door of [...doors, sanitize]) {
  const components = [...door.components, 'node', 'python3'] as const
  describeWith(components.map(component), `caches in ${door.name}`, { tags: 'all' }, () => {
    it('[RP9] programs leave none in the project, and the next command finds them', async () => {
      await using site = await openSite({ root: door.root, executor: door.create() })
      // sanitize judges no script of another program
      const tried = door === sanitize ? [lines['npm']] : Object.values(lines)
      for (const line of tried) await site.attempt(line ?? '')
      const names = async (path: string) => (await Array.fromAsync(site.workspace.list(path))).map(({ name }) => name)
      expect((await names(door.root)).filter((name) => /^\.(npm|cache|local|.*hist.*)/u.test(name))).toEqual([])
      expect(await names('/tmp/.cache')).toContain('npm')
    })
  })
}

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, type Rule, type Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { guaranteeFields, systemNames, type AttachedExecutor, type Executor, type Guarantees } from '@ws/core/executor'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { codeOf, createScratchDirectory, propertyRounds } from '@ws/test-fixtures'
import fc from 'fast-check'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

import { paths } from '../../src/memory-workspace.ts'

const names = [...systemNames, 'tmp', 'workspace', 'src'] as const
const guarantees = Object.fromEntries(guaranteeFields.map((field) => [field, 'kernel'])) as unknown as Guarantees

/** Real programs, as the workspace knows them; none is run. */
function realPrograms(name = 'real', attached: Partial<AttachedExecutor> = {}): Executor {
  return {
    name,
    kind: 'process',
    probe: async () => ({ available: true, guarantees, missing: [], howToFix: [], details: {} }),
    attach: async () => ({
      guarantees,
      spawn: () => Promise.reject(new Error('a command was started')),
      close: async () => undefined,
      ...attached,
    }),
  }
}

const interpreter = createVirtualExecutor()
const remedy = expect.stringContaining("at: '/workspace'")

async function onDisk(files: readonly string[] = []) {
  const scratch = await createScratchDirectory()
  const root = scratch.path
  for (const path of files) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), 'needle')
  }
  const adapter = await createLocalAdapter({ root })
  return { root, adapter, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() }
}

const open = (adapter: StorageAdapter, executors: readonly Executor[] = [], given: readonly Rule[] = []) =>
  createWorkspace({ mounts: [{ at: '/', adapter }], executors, rules: given })

/** Each way in which the file API shows what is there. */
async function shown(workspace: Workspace): Promise<Record<string, readonly string[]>> {
  return {
    list: await paths(workspace.list('/', { recursive: true })),
    glob: (await paths(workspace.glob('**'))).filter((path) => path.includes('.')),
    search: await paths(workspace.search('needle')),
  }
}

describe('names of the system at `/`', () => {
  it.each([
    ['memory', undefined],
    ['a disk', undefined],
    ['memory, with the interpreter', interpreter],
  ] as const)('[PC6] are shown like any other, at every door: %s', async (store, executor) => {
    const property = fc.asyncProperty(fc.subarray([...names], { minLength: 1 }), async (chosen) => {
      const files = chosen.map((name) => `/${name}/a.js`)
      await using disk = await onDisk(store === 'a disk' ? files : [])
      const adapter =
        store === 'a disk'
          ? disk.adapter
          : createMemoryAdapter({ files: Object.fromEntries(files.map((path) => [path, 'needle'])) })
      await using workspace = await open(adapter, executor && [executor])
      const all = chosen.flatMap((name) => [`/${name}`, `/${name}/a.js`]).sort()
      expect(await shown(workspace)).toEqual({ list: all, glob: [...files].sort(), search: [...files].sort() })
      for (const [index, path] of files.entries()) {
        expect(await workspace.readText(path)).toBe('needle')
        await workspace.write(`/${chosen[index]}/b.js`, 'more')
        await workspace.move(`/${chosen[index]}/b.js`, `/${chosen[index]}/c.js`)
      }
      if (executor === undefined) return
      const { stdout } = await workspace.exec('ls -A /; cat */a.js; cat */c.js; find / -name "a.js" | wc -l')
      const least = [...chosen].sort()
      expect(stdout).toBe(
        `${least.join('\n')}\n${'needle'.repeat(chosen.length)}${'more'.repeat(chosen.length)}${chosen.length}\n`,
      )
      await workspace.exec(`rm -r ${chosen.map((name) => `/${name}`).join(' ')}`)
      expect(await paths(workspace.list('/'))).toEqual([])
    })
    await fc.assert(property, propertyRounds({ quick: store === 'a disk' ? 3 : 6 }))
  })

  it.each(names.filter((name) => name !== 'src' && name !== 'workspace'))(
    'keep real programs from a directory that has them: %s',
    async (name) => {
      await using disk = await onDisk([`/${name}/a.js`])
      const reason = expect.stringContaining(`the directory has an entry \`/${name}\``)
      await expect(open(disk.adapter, [realPrograms()])).rejects.toMatchObject({ code: 'ENOEXECUTOR', reason, remedy })
      await using workspace = await open(disk.adapter, [realPrograms(), interpreter])
      expect(workspace.executor?.name).toBe('virtual')
      const explained = await workspace.explain({ operation: 'exec', path: '/' })
      expect(explained.passedOver).toEqual([{ executor: 'real', reason, remedy }])
      await using below = await createWorkspace({
        mounts: [{ at: '/workspace', adapter: disk.adapter }],
        executors: [realPrograms()],
      })
      expect(below.executor?.name).toBe('real')
    },
  )

  it('give the alias up where the directory has an entry of that name', async () => {
    await using disk = await onDisk(['/workspace/a.js'])
    await using workspace = await open(disk.adapter, [realPrograms()])
    expect(await paths(workspace.list('/', { recursive: true }))).toEqual(['/workspace', '/workspace/a.js'])
    const asked = { mounts: [{ at: '/', adapter: disk.adapter }] }
    expect(await codeOf(createWorkspace({ ...asked, aliases: { '/workspace': '/' } }))).toBe('EBUSY')
    expect(await codeOf(createWorkspace({ ...asked, aliases: { '/root': '/' } }))).toBe('done')
  })

  it('[RP20] give the scratch up where the directory has an entry of that name', async () => {
    const adapter = createMemoryAdapter({ files: { '/tmp/a': 'own' } })
    await using workspace = await open(adapter)
    await workspace.write('/tmp/b', 'x')
    expect((await adapter.stat('/tmp/b' as never)).type).toBe('file')
    const asked = createWorkspace({ mounts: [{ at: '/', adapter }], scratch: true })
    await expect(asked).rejects.toMatchObject({ code: 'EBUSY', path: '/tmp' })
  })

  it('are not those of mounts below the scratch', async () => {
    await using disk = await onDisk(['/src/a.js'])
    await using more = await onDisk(['/b.js'])
    const mounts = [
      { at: '/', adapter: disk.adapter },
      { at: '/tmp/more', adapter: more.adapter },
    ]
    await using workspace = await createWorkspace({ mounts, executors: [realPrograms()] })
    await expect(workspace.exec('true')).rejects.toThrow('a command was started')
    expect(await workspace.readText('/tmp/more/b.js')).toBe('needle')
  })

  it('refuse commands of real programs once they have appeared, and can be looked at and removed', async () => {
    await using disk = await onDisk(['/src/a.js'])
    await using workspace = await open(disk.adapter, [realPrograms()])
    for (const name of names.filter((one) => one !== 'src')) {
      mkdirSync(join(disk.root, name))
      const refused = { code: 'EBUSY', path: `/${name}`, remedy: expect.stringContaining('`/workspace`') }
      await expect(workspace.exec('true')).rejects.toMatchObject(refused)
      const { effect, code } = await workspace.explain({ operation: 'exec', path: '/' })
      expect([effect, code]).toEqual(['deny', 'EBUSY'])
      const isOwn = name !== 'tmp' && name !== 'workspace'
      if (!isOwn) rmSync(join(disk.root, name), { recursive: true })
      else {
        expect(await paths(workspace.list('/'))).toContain(`/${name}`)
        await workspace.delete(`/${name}`, { recursive: true })
      }
      await expect(workspace.exec('true')).rejects.toThrow('a command was started')
    }
  })

  it('are made by no operation where programs have them from the system', async () => {
    await using disk = await onDisk(['/src/a.js'])
    await using workspace = await open(disk.adapter, [realPrograms()])
    const calls = [
      workspace.write('/lib', 'x'),
      workspace.write('/lib/a.js', 'x'),
      workspace.append('/etc/a', 'x'),
      workspace.createDirectory('/usr/share'),
      workspace.createSymlink('/bin', 'src'),
      workspace.copy('/src', '/sbin'),
      workspace.move('/src/a.js', '/proc'),
    ]
    expect(await Promise.all(calls.map(codeOf))).toEqual(calls.map(() => 'EBUSY'))
    await workspace.createSymlink('/way', '/lib')
    expect(await codeOf(workspace.write('/way', 'x'))).toBe('EBUSY')
    expect(await codeOf(workspace.read('/lib'))).toBe('ENOENT')
    expect((await workspace.explain({ operation: 'write', path: '/lib' })).code).toBe('EBUSY')
    expect(await paths(workspace.list('/', { recursive: true }))).toEqual(['/src', '/src/a.js', '/way'])
    await workspace.write('/tmp/a', 'the scratch is no name of the directory')
  })

  it('[RU1] are no place for a rule, or for a mount, of real programs', async () => {
    await using disk = await onDisk(['/src/a.js'])
    const given = [rules.deny('/etc/passwd'), rules.readOnly('usr'), rules.denyGlob('/lib/*.js')]
    for (const rule of given) {
      const refused = { code: 'ENOEXECUTOR', reason: expect.stringContaining(`\`${rule.name}\``), remedy }
      await expect(open(disk.adapter, [realPrograms()], [rule])).rejects.toMatchObject(refused)
    }
    const mounts = [
      { at: '/', adapter: disk.adapter },
      { at: '/usr/x', adapter: createMemoryAdapter({ files: { '/f': 'needle' } }) },
    ]
    await using interpreted = await createWorkspace({ mounts, executors: [realPrograms(), interpreter] })
    expect((await interpreted.exec('cat /usr/x/f; ls /usr')).stdout).toBe('needlex\n')
    await using held = await open(disk.adapter, [interpreter], [...given, rules.deny('/proc')])
    expect(await codeOf(held.write('/usr', 'x'))).toBe('EACCES')
    expect((await held.exec('mkdir /proc /etc; echo x > /etc/passwd')).stderr).toMatch(/\/proc.*\n.*\/etc\/passwd/)
  })

  it('take those of an executor in too', async () => {
    await using disk = await onDisk(['/opt/a.js'])
    const executor = realPrograms('with tools', { topNames: ['opt'] })
    const reason = expect.stringContaining('`/opt`')
    await expect(open(disk.adapter, [executor])).rejects.toMatchObject({ code: 'ENOEXECUTOR', reason })
    rmSync(join(disk.root, 'opt'), { recursive: true })
    await using workspace = await open(disk.adapter, [executor])
    expect(await codeOf(workspace.write('/opt/x', 'x'))).toBe('EBUSY')
    mkdirSync(join(disk.root, 'opt'))
    expect(await codeOf(workspace.exec('true'))).toBe('EBUSY')
  })
})

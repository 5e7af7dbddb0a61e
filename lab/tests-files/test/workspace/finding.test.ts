import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, observe, rules, type Workspace } from '@ws/core'
import { codeOf, createScratchDirectory } from '@ws/test-fixtures'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import { openMemory, paths } from '../../src/memory-workspace.ts'

/** A workspace, and the directories that were listed in its store. */
async function watched(files: Readonly<Record<string, string>>): Promise<{ workspace: Workspace; listed: string[] }> {
  const listed: string[] = []
  const adapter = observe(createMemoryAdapter({ files }), ({ phase, operation, path }) => {
    if (phase === 'before' && operation === 'list') listed.push(String(path))
  })
  return { workspace: await createWorkspace({ mounts: [{ at: '/', adapter }] }), listed }
}

describe('glob', () => {
  const files = { '/src/lib/a.ts': '', '/src/test/b.ts': '', '/doc/deep/er/c.md': '', '/node_modules/x/d.ts': '' }

  it('enters only directories in which something may match', async () => {
    const { workspace, listed } = await watched(files)
    for (const [globs, options, expected] of [
      ['src/lib/*', {}, ['/', '/src', '/src/lib']],
      ['/*/deep/**', {}, ['/', '/doc', '/doc/deep', '/doc/deep/er', '/node_modules', '/src']],
      ['/*', {}, ['/']],
      [['*.ts', '!node_modules', '!doc'], {}, ['/', '/src', '/src/lib', '/src/test']],
      ['*.ts', { in: 'src', exclude: ['src/lib'] }, ['/src', '/src/test']],
      ['*.ts', { maxMatches: 1 }, ['/', '/doc', '/doc/deep', '/doc/deep/er', '/node_modules', '/node_modules/x']],
    ] as const) {
      listed.length = 0
      for await (const entry of workspace.glob(globs, options)) void entry
      expect(listed, String(globs)).toEqual(expected)
    }
  })

  it('[HO6] goes on beside directories whose paths are too long', async () => {
    const workspace = await createWorkspace({ mounts: [{ at: '/here', adapter: createMemoryAdapter() }] })
    const down = `/${'d'.repeat(200)}`.repeat(12)
    for (const top of ['t', 'u']) await workspace.createDirectory(`/here/${top}${down}`, { recursive: true })
    await workspace.write(`/here/t${down}/file`, 'x')
    await workspace.move('/here/t', `/here/u${down}/t`)
    await workspace.write('/here/z/file', 'x', { parents: true })
    expect(await paths(workspace.glob('**/file'))).toEqual(['/here/z/file'])
  })

  it('ends when its caller leaves the loop, and when its signal is aborted', async () => {
    const { workspace, listed } = await watched(files)
    for await (const { name } of workspace.glob('*')) {
      expect(name).toBe('doc')
      break
    }
    expect(listed).toEqual(['/'])
    const stop = new AbortController()
    const entries = workspace.glob('*.ts', { signal: stop.signal })
    await entries.next()
    stop.abort(new Error('enough'))
    await expect(entries.next()).rejects.toThrow('enough')
  })

  it('asks rules that are functions about each directory', async () => {
    const { workspace } = await openMemory(
      { '/': { '/a/x.ts': '', '/b/x.ts': '', '/b/secret/x.ts': '' } },
      {
        rules: [
          rules.predicate({
            name: 'no-secret',
            test: ({ operation, path }) => operation !== 'list' || path !== '/b/secret',
            reason: 'is secret',
          }),
        ],
      },
    )
    expect(await paths(workspace.glob('*.ts'))).toEqual(['/a/x.ts', '/b/x.ts'])
    expect(await codeOf(workspace.glob('*', { in: '/b/secret' }).next())).toBe('EACCES')
  })

  it('tells nothing of a denied directory whose allowed part it goes to', async () => {
    const { workspace } = await openMemory(
      { '/': { '/no/yes/a.ts': '', '/no/b.ts': '' } },
      { rules: [rules.deny('/no'), rules.allow('/no/yes', { justification: 'a test', from: ['deny(/no)'] })] },
    )
    expect(await paths(workspace.glob('**/*.ts'))).toEqual(
      await paths(workspace.list('/', { recursive: true })).then((all) => all.filter((path) => path.endsWith('.ts'))),
    )
    expect(await paths(workspace.glob('*.ts', { in: '/no/yes' }))).toEqual(['/no/yes/a.ts'])
  })

  it('goes on without a directory that the disk denies, and never through a link', async () => {
    const scratch = await createScratchDirectory()
    const root = await scratch.createDirectory('root')
    await mkdir(join(root, 'open/way'), { recursive: true })
    await writeFile(join(root, 'open/way/a.ts'), '')
    await symlink('/etc', join(root, 'open/etc'))
    await symlink('..', join(root, 'open/way/up'))
    await using workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => createLocalAdapter({ root, owner: scratch.owner }) }],
    })
    expect(await paths(workspace.glob(['*.ts', 'passwd', 'etc/**']))).toEqual(['/open/way/a.ts'])
    if (process.getuid?.() !== 0) {
      await chmod(join(root, 'open/way'), 0)
      expect(await paths(workspace.glob('*.ts'))).toEqual([])
      await chmod(join(root, 'open/way'), 0o755)
    }
    await scratch.remove()
  })

  it('[RU8] leaves the event loop its turn in a directory of 100,000 files', { tags: 'all' }, async () => {
    const many = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, index) => [`/many/${(index * 7919) % 100_003}`, '']),
    )
    const { workspace } = await openMemory({ '/': many })
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const found = await Array.fromAsync(workspace.glob('many/*'))
    delay.disable()
    expect(found.length).toBe(10_000)
    expect(found.map(({ name }) => name)).toEqual(
      Object.keys(many)
        .map((path) => path.slice(6))
        .toSorted()
        .slice(0, 10_000),
    )
    // a machine that is busy with other tests is late too
    expect(delay.percentile(90) / 1e6).toBeLessThan(50)
  })
})

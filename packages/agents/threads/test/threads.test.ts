import { createMemoryAdapter } from '@ws/adapter-memory'
import { isWorkspaceError } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { createThreads } from '@ws/threads'
import { describe, expect, it } from 'vitest'

import { kinds } from './support.ts'

// the adapters have tests of their own
const rest = ['r2', 'rclone', 'replica of r2', 'replica of ceph']
const tagsOf = (name: string): ('all' | 'deep')[] => (name === 'ceph' ? ['all'] : rest.includes(name) ? ['deep'] : [])
/** The parts of a new thread have tests of their own: on a disk `.venv` costs more than the rest. */
const bare = { provision: false } as const

for (const kind of kinds) {
  describeWith(kind.needs, `threads on ${kind.name}`, { tags: tagsOf(kind.name) }, () => {
    it('[RP7] keep what both doors wrote over a restart', async () => {
      await using site = await kind.open()
      const first = await site.open(bare)
      const one = await first.open({ threadId: 't1', userId: 'u1' })
      await one.workspace.write('/analysis.txt', 'hello\n')
      expect(await one.workspace.exec('cat /analysis.txt > /output.txt; pwd')).toMatchObject({
        exitCode: 0,
        stdout: '/\n',
      })
      await one.flush()
      await first.close()

      const second = await site.open(bare)
      const again = await second.open({ threadId: 't1', userId: 'u1' })
      expect(await again.workspace.readText('/output.txt')).toBe('hello\n')
      expect((await again.workspace.exec('cat /analysis.txt')).stdout).toBe('hello\n')
      expect(await site.text('/threads/t1/output.txt')).toBe('hello\n')
    })

    it('[RP12] a new thread that cannot be opened is not left behind, and one that was there stays', async () => {
      await using site = await kind.open()
      const fails = { ...bare, executors: [], require: 'untrusted' } as const
      const ids = async (threads: Awaited<ReturnType<typeof site.open>>) => await Array.fromAsync(threads.list())
      const failing = await site.open(fails)
      const given = { threadId: 't1', userId: 'u1' }
      await expect(failing.open(given)).rejects.toMatchObject({ code: 'ENOEXECUTOR' })
      expect(await ids(failing)).toEqual([])
      const threads = await site.open(bare)
      const thread = await threads.open(given)
      await thread.workspace.write('/kept.txt', 'x')
      await thread.close()
      await threads.close()
      await expect(failing.open(given)).rejects.toMatchObject({ code: 'ENOEXECUTOR' })
      expect(await ids(failing)).toEqual(['t1'])
      expect(await site.text('/threads/t1/kept.txt')).toBe('x')
      const again = await (await site.open(bare)).open(given)
      expect(await again.workspace.readText('/kept.txt')).toBe('x')
      expect(await Array.fromAsync(again.workspace.list('/.solven/skills'))).toHaveLength(2)
    })

    it('[RP9] run commands with HOME=/ and USER=user', async () => {
      await using site = await kind.open()
      const thread = await (await site.open(bare)).open({ threadId: 't1', userId: 'u1' })
      expect((await thread.workspace.exec('echo $HOME $USER')).stdout).toBe('/ user\n')
    })

    it('[PC1, RP10] show the skills and the ticket at both doors, read-only', async () => {
      await using site = await kind.open()
      await site.put('/skills/system/plan/SKILL.md', '---\nname: plan\ndescription: Plans.\n---\nDo plan.\n')
      await site.put('/skills/u1/own/SKILL.md', '---\nname: own\ndescription: Mine.\n---\nDo own.\n')
      await site.put('/threads/k7/question.txt', 'why?\n')
      const { workspace, ...thread } = await (await site.open(bare)).open({
        threadId: 't1',
        userId: 'u1',
        ticketId: 'k7',
      })
      const { stdout } = await workspace.exec('ls /.solven/skills/; cat /.ticket/question.txt')
      expect(stdout).toBe('system\nu1\nwhy?\n')
      expect(await workspace.readText('/.solven/skills/system/plan/SKILL.md')).toContain('Do plan.')
      for (const path of ['/.solven/skills/system/x', '/.solven/skills/u1/x', '/.ticket/x']) {
        await expect(workspace.write(path, 'x')).rejects.toMatchObject({ code: 'EROFS' })
        expect((await workspace.exec(`echo x > ${path}`)).exitCode).not.toBe(0)
      }
      expect(thread.status().warnings).toEqual([])
    })

    it('[PC1, RP10] lie at another place with all that belongs to them', async () => {
      await using site = await kind.open()
      await site.put('/skills/system/plan/SKILL.md', '---\nname: plan\ndescription: Plans.\n---\nDo plan.\n')
      await site.put('/threads/k7/question.txt', 'why?\n')
      const files = createMemoryAdapter({ files: { '/lib/a.js': 'from the template\n' } })
      const template = { files, mode: kind.processes ? 'replace' : 'extend' } as const
      const threads = await site.open({ at: '/workspace', template })
      const thread = await threads.open({ threadId: 't1', userId: 'u1', ticketId: 'k7' })
      const { workspace } = thread
      expect(workspace.root).toBe('/workspace')
      expect((await thread.activate('plan')).body).toContain('Do plan.')
      expect((await thread.listSkills()).skills.map(({ path }) => path)).toEqual([
        '/workspace/.solven/skills/system/plan',
      ])
      expect(thread.status().warnings).toEqual([])
      const { stdout } = await workspace.exec('pwd; echo $HOME; cat .ticket/question.txt lib/a.js; echo y > lib/b.js')
      expect(stdout).toBe('/workspace\n/workspace\nwhy?\nfrom the template\n')
      const standard = kind.processes ? [] : ['.bashrc', '.profile', 'package.json']
      for (const part of [...standard, '.workspace_configured', 'lib/b.js'])
        expect(await workspace.exists(part), part).toBe(true)
      await threads.close()
      expect(await site.text('/threads/t1/lib/b.js')).toBe('y\n')
      await expect(site.open({ at: 'workspace' })).rejects.toMatchObject({ code: 'EINVAL' })
    })

    it('[RP12] say so when there are no skills, and show an empty directory', async () => {
      await using site = await kind.open()
      const thread = await (await site.open(bare)).open({ threadId: 't1', userId: 'u1' })
      expect(thread.status().warnings).toEqual([
        { path: '/.solven/skills/system', reason: expect.stringContaining('is empty') as string },
      ])
      expect((await thread.workspace.exec('ls -a /.solven/skills/system | grep -v "^\\.*$"')).stdout).toBe('')
      expect(await thread.formatCatalogue()).toBe('')
    })

    it('[PC17] refuse a ticket that does not exist', async () => {
      await using site = await kind.open()
      const threads = await site.open(bare)
      await expect(threads.open({ threadId: 't1', userId: 'u1', ticketId: 'nope' })).rejects.toMatchObject({
        code: 'ENOENT',
        path: '/.ticket',
      })
      // nothing is left of the attempt: the thread can be opened
      await (await threads.open({ threadId: 't1', userId: 'u1' })).close()
    })

    it('[RP6, PC16] see nothing of other threads, users and tickets', async () => {
      await using site = await kind.open()
      await site.put('/threads/t12/secret.txt', 'secret\n')
      await site.put('/skills/u2/own/SKILL.md', 'secret\n')
      const { workspace } = await (await site.open(bare)).open({ threadId: 't1', userId: 'u1' })
      const tries = [
        '/threads/t12/secret.txt',
        '/../t12/secret.txt',
        '../t12/secret.txt',
        '/.solven/skills/u2/own/SKILL.md',
        '/.solven/skills/../../../t12/secret.txt',
        '/.ws/threads/t1/lease',
        '/../../.ws/threads/t1/lease',
      ]
      for (const path of tries) {
        const error: unknown = await workspace.readText(path).catch((failure: unknown) => failure)
        expect(isWorkspaceError(error), path).toBe(true)
        expect((await workspace.exec(['cat', path])).stdout, path).toBe('')
      }
      const all = await Array.fromAsync(workspace.list('/', { recursive: true }))
      expect(all.map(({ path }) => path).filter((path) => /u2|t12|lease/.test(path))).toEqual([])
    })

    it('[TH2] are written by one at a time', async () => {
      await using site = await kind.open()
      const first = await site.open(bare)
      const second = await site.open(bare)
      const one = await first.open({ threadId: 't1', userId: 'u1' })
      await expect(second.open({ threadId: 't1', userId: 'u1' })).rejects.toMatchObject({
        code: 'EBUSY',
        reason: expect.stringMatching(/in use by .+ since 2/) as string,
      })
      await second.open({ threadId: 't2', userId: 'u1' })
      await one.close()
      await first.close()
      const taken = await second.open({ threadId: 't1', userId: 'u1' })
      expect(taken.status().writer.holder?.name).toContain(String(process.pid))
      const { scope } = taken.status().writer
      expect(scope).toBe({ memory: 'process', local: 'machine' }[kind.name] ?? 'server')
    })

    it('open one workspace for all who ask, and close it when it has been idle', async () => {
      await using site = await kind.open()
      const threads = await site.open({ ...bare, idleTimeout: 0 })
      const [left, right] = await Promise.all([
        threads.open({ threadId: 't1', userId: 'u1' }),
        threads.open({ threadId: 't1', userId: 'u1' }),
      ])
      expect(left.workspace).toBe(right.workspace)
      await left.close()
      expect(right.status().state).toBe('open')
      await right.workspace.write('/a', 'x')
      await right.close()
      expect(right.status().state).toBe('closed')
      await expect(threads.open({ threadId: 't1', userId: 'u2' })).resolves.toBeDefined()
      await expect(threads.open({ threadId: 't1', userId: 'u1' })).rejects.toMatchObject({ code: 'EBUSY' })
    })

    it('can be listed, copied, exported, imported and deleted', async () => {
      await using site = await kind.open()
      const threads = await site.open(bare)
      expect(await Array.fromAsync(threads.list())).toEqual([])
      const thread = await threads.open({ threadId: 't1', userId: 'u1' })
      await thread.workspace.write('/d/a.txt', 'a\n')
      await expect(threads.delete('t1')).rejects.toMatchObject({ code: 'EBUSY' })
      await thread.close()
      await threads.copy('t1', 't2')
      await expect(threads.copy('t1', 't2')).rejects.toMatchObject({ code: 'EEXIST' })
      await threads.import('t3', threads.export('t1'))
      await expect(threads.import('t3', threads.export('t1'))).rejects.toMatchObject({ code: 'EEXIST' })
      expect((await Array.fromAsync(threads.list())).sort()).toEqual(['t1', 't2', 't3'])
      expect(await site.text('/threads/t3/d/a.txt')).toBe('a\n')
      const counted = await threads.delete('t1', { dryRun: true })
      expect(counted.bytes).toBe(2)
      expect(await threads.delete('t1')).toEqual(counted)
      await expect(threads.delete('t1')).rejects.toMatchObject({ code: 'ENOENT' })
      expect((await Array.fromAsync(threads.list())).sort()).toEqual(['t2', 't3'])
    })
  })
}

for (const kind of kinds.filter(({ name }) => name !== 'memory' && name !== 'local')) {
  // the one that needs a bucket: `npm test` has it on one
  const tags = kind.name === 'r2' ? [] : tagsOf(kind.name)
  describeWith(kind.needs, `threads in a bucket, ${kind.name}`, { tags }, () => {
    it('[RP14, RP15] are all in the bucket after a flush, for a client of its own', async () => {
      await using site = await kind.open()
      const thread = await (await site.open()).open({ threadId: 't1', userId: 'u1' })
      await thread.workspace.write('/by-files.txt', 'files\n')
      await thread.workspace.write('/large.bin', 'x'.repeat(9 * 1024 * 1024))
      const { exitCode } = await thread.workspace.exec('mkdir -p d/e && echo command > d/e/by-command.txt')
      expect(exitCode).toBe(0)
      await thread.flush()
      expect(await site.object?.('threads/t1/by-files.txt')).toBe('files\n')
      expect(await site.object?.('threads/t1/d/e/by-command.txt')).toBe('command\n')
      expect((await site.object?.('threads/t1/large.bin'))?.length).toBe(9 * 1024 * 1024)
    })
  })
}

describe('ids', () => {
  const hostile = [
    '..',
    '.',
    '',
    't1/../t2',
    't1%2f',
    't1/',
    '/t1',
    'a\0b',
    'x'.repeat(1024),
    '.ws',
    'system',
    'System',
    'ä',
    't1.',
    '-t',
    't 1',
    7,
    null,
  ]
  it.each(hostile)('[TH1] %j is refused with one error, for threads, users and tickets', async (id) => {
    const [kind] = kinds
    if (kind === undefined) return
    await using site = await kind.open()
    const threads = await site.open()
    const bad = id as string
    const errors = await Promise.all([
      threads.open({ threadId: bad, userId: 'u1' }).catch((error: unknown) => error),
      threads.open({ threadId: 't1', userId: bad }).catch((error: unknown) => error),
      threads.open({ threadId: 't1', userId: 'u1', ticketId: bad }).catch((error: unknown) => error),
    ])
    for (const error of errors) {
      expect(error).toMatchObject({
        code: 'EINVAL',
        reason: expect.stringContaining('id must have 1 to 128') as string,
      })
    }
    expect(await Array.fromAsync(threads.list())).toEqual([])
  })

  it('[TH1] that differ in case only are one id', async () => {
    for (const kind of kinds.filter(({ name }) => name === 'memory')) {
      await using site = await kind.open()
      const threads = await site.open({ idleTimeout: 0 })
      await (await threads.open({ threadId: 't1', userId: 'u1' })).close()
      await expect(threads.open({ threadId: 'T1', userId: 'u1' })).rejects.toMatchObject({
        code: 'EINVAL',
        reason: 'the thread id differs from the existing `t1` in case only',
      })
    }
  })
})

describe('a store that checks no conditions', () => {
  it('[TH2] gives no threads without a word about leases, and is closed where it belongs to them', async () => {
    let closed = 0
    const store = createMemoryAdapter()
    const capabilities = { value: { ...store.capabilities, conditionalWrite: 'none' as const } }
    const close = { value: async () => void (closed += 1) }
    const unchecked = Object.create(store, { capabilities, close }) as typeof store
    const refused = { code: 'EINVAL', remedy: expect.stringContaining('`leases`') }
    await expect(createThreads({ store: unchecked })).rejects.toMatchObject(refused)
    expect(closed).toBe(0)
    await expect(createThreads({ store: async () => unchecked })).rejects.toMatchObject(refused)
    expect(closed).toBe(1)
    await (await createThreads({ store: unchecked, leases: 'none' })).close()
  })
})

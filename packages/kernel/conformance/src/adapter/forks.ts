import type { Entry, StorageAdapter } from '@ws/core/adapter'
import { check, equal, rejection, rejects } from '../assert.ts'
import { at, type Case, decode, encode, pattern } from './case.ts'
import type { Suite } from './suite.ts'

type Fork = NonNullable<StorageAdapter['createFork']>

const past = 1_000_000_000_123

export function forkTests({ describe, test }: Suite): void {
  const forks = (title: string, run: (it: Case, fork: Fork) => Promise<void>): void =>
    test(title, {}, async (it) => {
      const { createFork } = it.adapter
      if (createFork === undefined) return it.skip('the adapter has no createFork')
      await run(it, createFork.bind(it.adapter))
    })

  describe('createFork', () => {
    forks('[EF3] copies every entry with content, mode and time', async (it, fork) => {
      await fill(it)
      const before = await seen(it.adapter)
      await using copy = await fork()
      equal(await seen(copy), before, 'the tree of the copy')
      equal(await seen(it.adapter), before, 'the tree after the copy')
      check(!copy.capabilities.readOnly, 'the copy cannot be written')
    })

    forks('[EF3] shares no later change', async (it, fork) => {
      await fill(it)
      await using copy = await fork()
      await copy.write(at('/dir/a'), encode('theirs'))
      await copy.write(at('/new'), encode('theirs'))
      await copy.delete(at('/dir/deep'), { recursive: true })
      equal(await it.text('/dir/a'), 'a', 'the file of the adapter')
      equal(await it.text('/dir/deep/large'), decode(pattern(300_000)), 'a file deleted in the copy')
      check(!(await it.exists('/new')), 'a file of the copy is in the adapter')
      await it.put('/dir/b', 'ours')
      await it.seed.delete(at('/dir/a'))
      await rejects(copy.stat(at('/dir/b')), 'ENOENT', { path: '/dir/b' })
      equal(await content(copy, '/dir/a'), 'theirs', 'the file of the copy')
    })

    forks('[EF3] outlives the adapter, and can be forked itself', async (it, fork) => {
      await it.put('/dir/a', 'a')
      await using copy = await fork()
      await it.adapter.close()
      equal(await content(copy, '/dir/a'), 'a')
      await using second = await copy.createFork?.()
      equal(second && (await content(second, '/dir/a')), 'a', 'a fork of the copy')
    })

    forks('[EF3] ends at its own close, and the adapter goes on', async (it, fork) => {
      await it.put('/dir/a', 'a')
      const copy = await fork()
      await copy.close()
      await copy.close()
      await rejects(copy.stat(at('/')), 'ECLOSED')
      equal(await it.text('/dir/a'), 'a')
      await it.adapter.close()
      await rejects(fork(), 'ECLOSED', { what: 'createFork' })
    })

    forks('[EF3] stays in `directory`, which must be missing or empty, and outside the tree', async (it, fork) => {
      await using beside = await it.adapter.createScratch?.()
      await it.put('/dir/a', 'a')
      const top = beside?.hostPath?.(at('/'))
      if (it.adapter.hostPath === undefined || beside === undefined || top === undefined) {
        await rejects(fork({ directory: '/no/host/path' }), 'EINVAL', { what: 'a store without a directory' })
        return
      }
      await beside.createDirectory(at('/empty'))
      await beside.write(at('/file'), encode(''))
      for (const name of ['empty', 'missing']) {
        const copy = await fork({ directory: `${top}/${name}` })
        equal(copy.hostPath?.(at('/')), `${top}/${name}`)
        await copy.close()
        equal(await content(beside, `/${name}/dir/a`), 'a', 'the copy after its close')
      }
      const before = await seen(beside)
      for (const place of [
        top,
        `${top}/empty`,
        `${top}/file`,
        `${top}/none/copy`,
        `${it.adapter.hostPath(at('/'))}/in`,
      ])
        await rejects(fork({ directory: place }), 'EINVAL', { what: place.slice(top.length) })
      equal(await seen(beside), before, 'the directories')
    })

    forks('[EF3] ends with the reason of an abort', async (it, fork) => {
      for (let index = 0; index < 20; index += 1) await it.put(`/dir-${index}/file`, pattern(100_000))
      const reason = new Error('no longer wanted')
      const early = await rejection(fork({ signal: AbortSignal.abort(reason) }))
      check(early === reason, `it should have rejected with signal.reason, not with ${String(early)}`)
      const controller = new AbortController()
      const promise = fork({ signal: controller.signal })
      setImmediate(() => controller.abort(reason))
      try {
        await (await promise).close() // it was faster
      } catch (error) {
        check(error === reason, `it should have rejected with signal.reason, not with ${String(error)}`)
      }
      await (await fork()).close()
    })
  })
}

async function fill(it: Case): Promise<void> {
  const { seed, capabilities } = it
  await it.put('/dir/a', 'a')
  await it.put('/dir/deep/large', pattern(300_000))
  await it.put('/dir/.dot', '')
  if (capabilities.keepsEmptyDirectories) await it.directory('/empty')
  if (capabilities.symlinks) {
    await it.link('/dir/link', 'a')
    await it.link('/dangling', '/none/../x')
    await it.link('/out', '/etc')
  }
  if (capabilities.chmod) {
    await seed.chmod?.(at('/dir/a'), 0o751)
    await seed.chmod?.(at('/dir/.dot'), 0o400)
    if (capabilities.keepsEmptyDirectories) await seed.chmod?.(at('/empty'), 0o500)
  }
  if (!capabilities.utimes) return
  for (const path of ['/dir/a', '/dir/deep/large', '/dir/deep']) {
    await seed.utimes?.(at(path), { modifiedAt: past })
  }
}

interface Seen extends Pick<Entry, 'path' | 'type' | 'size' | 'mode' | 'modifiedAt'> {
  readonly text: string | undefined
}

/** Every entry with its state and content. */
async function seen(adapter: StorageAdapter): Promise<readonly Seen[]> {
  const found: Seen[] = []
  for await (const { path, type } of adapter.list(at('/'), { recursive: true })) {
    const { size, mode, modifiedAt } = await adapter.stat(path)
    const text =
      type === 'file' ? await content(adapter, path) : type === 'symlink' ? await adapter.readSymlink?.(path) : ''
    found.push({ path, type, size, mode, modifiedAt, text })
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1))
}

async function content(adapter: StorageAdapter, path: string): Promise<string> {
  return decode((await adapter.read(at(path))).bytes)
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { isWorkspaceError } from '@ws/core'
import { LinkSignal } from '@ws/core/adapter'
import { component, describeWith, deep } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { type Site, at, bytes, collect, openSite, text } from './support.ts'

const reads = deep ? 50_000 : 1_000
const changes = deep ? 10_000 : 200 // each is many times slower than a read
const tagsOf = (io: 'auto' | 'async'): 'all'[] => (io === 'auto' ? [] : ['all'])

/** Exchanges two entries as fast as it can, until it is ended: renameat2(…, RENAME_EXCHANGE). */
const exchange = `
import ctypes, sys, os
call = ctypes.CDLL(None, use_errno=True).renameat2
a, b = (os.fsencode(name) for name in sys.argv[1:3])
sys.stdout.write('ready\\n'); sys.stdout.flush()
while True:
    call(-100, a, -100, b, 2)
`

async function startExchange(one: string, other: string): Promise<ChildProcess> {
  const racer = spawn('/usr/bin/python3', ['-c', exchange, one, other], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    if (racer.exitCode !== null || racer.signalCode !== null) return
    racer.kill('SIGKILL')
    await once(racer, 'exit')
  })
  await once(racer.stdout, 'data')
  return racer
}

/** Every entry with its content: what must be the same afterwards. */
async function snapshot(directory: string): Promise<Record<string, string>> {
  const seen: Record<string, string> = {}
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const { mode, uid, mtimeMs } = await lstat(path)
    seen[path.slice(directory.length)] =
      `${mode} ${uid} ${mtimeMs} ${entry.isFile() ? await readFile(path, 'utf8') : ''}`
  }
  return seen
}

interface Outcome {
  done: number
  refused: number
  leaked: string[]
}

/** `/dir` is now a directory, now a link to a directory outside with the same names in it. */
async function prepare(site: Site): Promise<void> {
  for (const [top, content] of [
    [join(site.root, 'dir'), 'inside'],
    [site.outside, 'OUTSIDE'],
  ] as const) {
    await mkdir(join(top, 'sub/deep'), { recursive: true })
    for (const name of ['file', 'sub/file', 'sub/deep/file']) await writeFile(join(top, name), content)
  }
  await symlink(site.outside, join(site.root, 'link'))
}

async function race(
  site: Site,
  operations: number,
  work: (index: number) => Promise<string | undefined>,
): Promise<Outcome> {
  const racer = await startExchange(join(site.root, 'dir'), join(site.root, 'link'))
  const outcome: Outcome = { done: 0, refused: 0, leaked: [] }
  for (let index = 0; index < operations; index += 1) {
    try {
      const seen = await work(index)
      outcome.done += 1
      if (seen?.includes('OUTSIDE') === true) outcome.leaked.push(seen)
    } catch (error) {
      if (!(error instanceof LinkSignal) && !isWorkspaceError(error)) throw error
      outcome.refused += 1
    }
  }
  racer.kill('SIGKILL')
  await once(racer, 'exit')
  return outcome
}

describeWith(component('python3'), 'while another process exchanges a directory and a link to outside', () => {
  for (const io of ['auto', 'async'] as const)
    it(`nothing outside is read, io: ${io}`, { tags: tagsOf(io) }, async () => {
      const site = await openSite({ io })
      const { adapter } = site
      await prepare(site)
      const works = [
        async () => text((await adapter.read(at('/dir/file'))).bytes),
        async () => text((await adapter.read(at('/dir/sub/deep/file'))).bytes),
        async () => {
          const parts: string[] = []
          for await (const chunk of (await adapter.readStream(at('/dir/sub/file'))).stream) parts.push(text(chunk))
          return parts.join('')
        },
        async () => `${(await adapter.stat(at('/dir/file'))).size === 7 ? 'OUTSIDE' : ''}`,
        async () => (await adapter.readSymlink(at('/link'))).replace(site.outside, ''),
        async () => {
          const entries = await collect(adapter.list(at('/dir'), { recursive: true, details: true }))
          return entries.some(({ size }) => size === 7) ? 'OUTSIDE' : ''
        },
      ]
      const outcome = await race(site, reads, async (index) => await works[index % works.length]?.())
      expect(outcome.leaked).toEqual([])
      expect(outcome.done).toBeGreaterThan(0)
      expect(outcome.refused).toBeGreaterThan(0)
    })

  for (const io of ['auto', 'async'] as const)
    it(`nothing outside is changed, io: ${io}`, { tags: tagsOf(io) }, async () => {
      const site = await openSite({ io })
      const { adapter } = site
      await prepare(site)
      const before = await snapshot(site.outside)
      const works: ((index: number) => Promise<unknown>)[] = [
        (index) => adapter.write(at(`/dir/new-${index}`), bytes('mine')),
        () => adapter.write(at('/dir/file'), bytes('mine')),
        (index) => adapter.write(at(`/dir/sub/x-${index}`), bytes('mine'), { ifVersion: 'absent' }),
        (index) => adapter.write(at(`/dir/sub/empty-${index}`), bytes(''), { ifVersion: 'absent' }),
        (index) => adapter.write(at(`/dir/p-${index}/q/f`), bytes('mine'), { parents: true }),
        () => adapter.append(at('/dir/sub/file'), bytes('more')),
        () => adapter.chmod(at('/dir/sub/file'), 0o777),
        () => adapter.chmod(at('/dir/sub'), 0o711),
        () => adapter.utimes(at('/dir/sub/file'), { modifiedAt: 1_000 }),
        (index) => adapter.createDirectory(at(`/dir/made-${index}/below`), { recursive: true }),
        () => adapter.delete(at('/dir/file')),
        () => adapter.delete(at('/dir/sub'), { recursive: true }),
        () => adapter.write(at('/dir/sub/deep/file'), bytes('again'), { parents: true }),
        () => adapter.move(at('/dir/sub'), at('/moved')),
        () => adapter.move(at('/moved'), at('/dir/sub')),
        (index) => adapter.copy(at('/dir/sub'), at(`/dir/copy-${index}`), { recursive: true }),
        (index) => adapter.createSymlink(at(`/dir/l-${index}`), 'file'),
        () => adapter.delete(at('/dir'), { recursive: true }),
        () => adapter.createDirectory(at('/dir/sub'), { recursive: true }),
      ]
      const outcome = await race(site, changes, async (index) => {
        await works[index % works.length]?.(index)
        return undefined
      })
      expect(await snapshot(site.outside)).toEqual(before)
      expect(outcome.done).toBeGreaterThan(0)
      expect(outcome.refused).toBeGreaterThan(0)
      const all = await readdir(site.root, { recursive: true })
      expect(all.filter((name) => name.includes('.ws-tmp-'))).toEqual([])
    })

  it('a search finds nothing outside', async () => {
    const site = await openSite()
    await prepare(site)
    const racer = await startExchange(join(site.root, 'dir'), join(site.root, 'link'))
    for (let index = 0; index < (deep ? 300 : 15); index += 1) {
      for (const regex of [false, true]) {
        const hits = await collect(site.adapter.search({ pattern: 'OUTSIDE', regex, in: at('/') }))
        expect(hits).toEqual([])
      }
    }
    racer.kill('SIGKILL')
    await once(racer, 'exit')
  })

  for (const files of [0, 300])
    it(`[EF3] a fork holds nothing from outside: a file that becomes a link, beside ${files} files`, async () => {
      const site = await openSite()
      await prepare(site)
      for (const top of [site.root, join(site.root, 'dir/sub')]) {
        await symlink(join(site.outside, 'file'), join(top, 'leads'))
        for (let index = 0; index <= files; index += 1) await writeFile(join(top, `plain-${index}`), 'inside')
      }
      const racers = [
        await startExchange(join(site.root, 'dir'), join(site.root, 'link')),
        await startExchange(join(site.root, 'plain-0'), join(site.root, 'leads')),
        await startExchange(join(site.root, 'dir/sub/plain-0'), join(site.root, 'dir/sub/leads')),
      ]
      let done = 0
      for (let index = 0; index < (deep ? 300 : files === 0 ? 25 : 3); index += 1) {
        try {
          await using fork = await site.adapter.createFork()
          const copied = await snapshot(fork.hostPath?.(at('/')) ?? '')
          expect(Object.values(copied).filter((entry) => entry.includes('OUTSIDE'))).toEqual([])
          done += 1
        } catch (error) {
          if (!isWorkspaceError(error, 'EBUSY')) throw error
        }
      }
      expect(done).toBeGreaterThan(0)
      for (const racer of racers) racer.kill('SIGKILL')
    })
})

import { spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, openSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { paths as core } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import type { TreeWatch } from '@ws/core/inner'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { watchTree } from '../../src/index.ts'

const at = (path: string): MountPath => core.parseMount(path, 'test')

async function watched(paths: readonly string[]): Promise<{ root: string; watch: TreeWatch; position: number }> {
  const root = await mkdtemp(join(tmpdir(), 'ws-watch-'))
  const fd = openSync(root, 'r')
  for (const path of paths) mkdirSync(join(root, path), { recursive: true })
  const watch = watchTree(`/proc/${process.pid}/fd/${fd}`)
  onTestFinished(() => {
    watch.end()
    closeSync(fd)
    rmSync(root, { recursive: true, force: true })
  })
  await watch.add(['/', ...paths].map(at))
  expect(['/', ...paths].filter((path) => !watch.has(at(path)))).toEqual([])
  return { root, watch, position: (await watch.since(undefined))?.position ?? Number.NaN }
}

/** The news of each of several acts, one after the other. */
async function told(
  { root, watch, position: start }: Awaited<ReturnType<typeof watched>>,
  acts: Readonly<Record<string, (root: string) => void>>,
) {
  let position = start
  const found: Record<string, { changed: string[]; replaced: string[] } | undefined> = {}
  for (const [name, act] of Object.entries(acts)) {
    act(root)
    const news = await watch.since(position)
    found[name] = news && { changed: [...news.changed].toSorted(), replaced: [...news.replaced].toSorted() }
    position = news?.position ?? Number.NaN
  }
  return found
}

describeWith(component('perl'), 'the watch of a tree', () => {
  it('[RU4] tells the directories whose entries, mode or name changed, at once and in their order', async () => {
    const tree = await watched(['/a', '/a/b', '/c'])
    const file = (root: string) => join(root, 'a/file')
    expect(
      await told(tree, {
        create: (root) => writeFileSync(file(root), 'x'),
        content: (root) => writeFileSync(file(root), 'longer'),
        'mode of a file': (root) => chmodSync(file(root), 0o600),
        rename: (root) => renameSync(file(root), join(root, 'c/file')),
        mode: (root) => chmodSync(join(root, 'c'), 0o700),
        delete: (root) => rmSync(join(root, 'c/file')),
        move: (root) => renameSync(join(root, 'a'), join(root, 'c/a')),
        'below what moved': (root) => writeFileSync(join(root, 'c/a/b/file'), ''),
        'another in its place': (root) => mkdirSync(join(root, 'a')),
        nothing: () => undefined,
      }),
    ).toEqual({
      create: { changed: ['/a'], replaced: [] },
      content: { changed: [], replaced: [] },
      'mode of a file': { changed: [], replaced: [] },
      rename: { changed: ['/a', '/c'], replaced: [] },
      mode: { changed: ['/c'], replaced: [] },
      delete: { changed: ['/c'], replaced: [] },
      move: { changed: ['/', '/c'], replaced: ['/a', '/c/a'] },
      'below what moved': { changed: [], replaced: [] },
      'another in its place': { changed: ['/'], replaced: ['/a'] },
      nothing: { changed: [], replaced: [] },
    })
    expect(['/a', '/a/b', '/c/a'].map((path) => tree.watch.has(at(path)))).toEqual([false, false, false])
  })

  it('[RU4] knows nothing more of a directory that was deleted and made again', async () => {
    const tree = await watched(['/a', '/a/b'])
    const found = await told(tree, {
      again: (root) => {
        rmSync(join(root, 'a'), { recursive: true })
        mkdirSync(join(root, 'a/b'), { recursive: true })
      },
    })
    expect(found['again']?.replaced).toEqual(expect.arrayContaining(['/a', '/a/b']))
    expect([tree.watch.has(at('/a')), tree.watch.has(at('/a/b'))]).toEqual([false, false])
    await tree.watch.add([at('/a'), at('/a/b')])
    const { position } = (await tree.watch.since(undefined)) ?? {}
    writeFileSync(join(tree.root, 'a/b/file'), '')
    expect([...((await tree.watch.since(position))?.changed ?? [])]).toEqual(['/a/b'])
  })

  it('[RU4] says that it knows nothing after more changes than the kernel notes, or without its process', async () => {
    const tree = await watched(['/a'])
    for (let count = 0; count < 9_000; count += 1) {
      writeFileSync(join(tree.root, 'a', `file-${count}`), '')
      rmSync(join(tree.root, 'a', `file-${count}`))
    }
    expect(await tree.watch.since(tree.position)).toBeUndefined()
    expect(tree.watch.has(at('/a'))).toBe(false)

    await tree.watch.add([at('/'), at('/a')])
    const { position } = (await tree.watch.since(undefined)) ?? {}
    expect(position).toBeDefined()
    for (const pid of watchers()) process.kill(pid, 'SIGKILL')
    expect(await tree.watch.since(position)).toBeUndefined()
    await tree.watch.add([at('/'), at('/a')])
    expect(await tree.watch.since(position)).toBeUndefined()
    expect(tree.watch.has(at('/a'))).toBe(true)
  })

  it('[RU4] follows no link, and forgets its root when that is moved', async () => {
    const tree = await watched(['/a'])
    const { root, watch, position } = tree
    rmSync(join(root, 'a'), { recursive: true })
    spawnSync('ln', ['-s', '/etc', join(root, 'a')])
    expect(await watch.since(position)).toMatchObject({ replaced: new Set(['/a']) })
    await watch.add([at('/a')])
    expect(watch.has(at('/a'))).toBe(false)
    renameSync(root, `${root}-moved`)
    onTestFinished(() => rmSync(`${root}-moved`, { recursive: true }))
    expect(await watch.since(position)).toBeUndefined()
  })

  it('[RU4] leaves inotify to other programs: of many trees, some are not watched', async () => {
    const trees = await Promise.all(Array.from({ length: 32 }, () => watched(['/a'])))
    const fd = openSync(trees[0]?.root ?? '', 'r')
    onTestFinished(() => closeSync(fd))
    const further = watchTree(`/proc/${process.pid}/fd/${fd}`)
    await further.add([at('/')])
    expect([further.has(at('/')), await further.since(undefined)]).toEqual([false, undefined])
    await expect.poll(watchers).toHaveLength(1)
  })

  it('[RU4] ends its process with the last tree', async () => {
    const tree = await watched(['/a'])
    await expect.poll(watchers).toHaveLength(1)
    ;(tree.watch as ReturnType<typeof watchTree>).end()
    await expect.poll(watchers).toEqual([])
    expect(await tree.watch.since(tree.position)).toBeUndefined()
  })
})

/** The processes of watches, found as children of this one. */
function watchers(): number[] {
  const { stdout } = spawnSync('pgrep', ['-P', String(process.pid), '-f', 'inotify_init1|Watches directories for Node'])
  return stdout.toString().split('\n').filter(Boolean).map(Number).filter(isAlive)
}

function isAlive(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== ''
  } catch {
    return false
  }
}

/** In namespaces of its own: few watches for each user, and a mount over a watched directory. */
const script = `
const [source, root] = process.argv.slice(1)
const { execFileSync } = await import('node:child_process')
const { mkdirSync, openSync, writeFileSync } = await import('node:fs')
const { watchTree } = await import(source)
mkdirSync(root + '/tree/a', { recursive: true })
mkdirSync(root + '/tree and more')
const mount = (path) => execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', root + path])
const base = '/proc/' + process.pid + '/fd/' + openSync(root + '/tree', 'r')
const one = watchTree(base)
await one.add(['/', '/a'])
const { position } = await one.since()
mount('/tree and more')
const elsewhere = await one.since(position)
mount('/tree/a')
const mounted = await one.since(position)
one.end()
writeFileSync('/proc/sys/user/max_inotify_watches', '10')
const many = Array.from({ length: 20 }, (_, index) => '/d' + index)
for (const path of many) mkdirSync(root + '/tree' + path)
const other = watchTree(base)
await other.add(['/', ...many])
const short = await other.since()
console.log(JSON.stringify({ elsewhere: elsewhere !== undefined, mounted: mounted === undefined, short: short === undefined, has: other.has('/') }))
process.exit()
`

describe('the watch of a tree in a small machine', () => {
  it.skipIf(process.getuid?.() !== 0)('[RU4] knows nothing after a mount in it, and without watches', async () => {
    const root = await mkdtemp(join(tmpdir(), 'ws-watch-'))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const args = ['--user', '--map-root-user', '--mount', '--propagation', 'private', process.execPath]
    const source = join(import.meta.dirname, '../../src/index.ts')
    const run = spawnSync(
      'unshare',
      [...args, '--conditions=@ws/source', '--input-type=module', '-e', script, source, root],
      {
        cwd: join(import.meta.dirname, '../..'),
      },
    )
    expect(run.stderr.toString()).toBe('')
    expect(JSON.parse(run.stdout.toString())).toEqual({ elsewhere: true, mounted: true, short: true, has: false })
  })
})

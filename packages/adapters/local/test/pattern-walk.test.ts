import { chmodSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { createWorkspace, rules, type Workspace } from '@ws/core'
import type { InnerAdapter, TreeWatch } from '@ws/core/inner'
import { Reserve } from '@ws/sandbox'
import { deep, rounds } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { createLocalAdapter } from '../src/index.ts'
import { KnownEntries, knownEntries } from '../src/read/known-entries.ts'
import { at, collect, open, scratch } from './support.ts'

/** Longer than changes of a directory may share one time. */
const settling = 130
const seed = Number(process.env['WS_SEED'] ?? (deep ? Math.floor(Math.random() * 2 ** 31) : 1))

async function openWorkspace(root: string): Promise<Workspace> {
  return (await openWatched(root)).workspace
}

interface Opened {
  readonly workspace: Workspace
  readonly watch: TreeWatch | undefined
  readonly close: () => Promise<void>
}

async function openWatched(root: string): Promise<Opened> {
  const adapter: InnerAdapter = await createLocalAdapter({ root })
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter }],
    rules: [rules.protectSecrets(), rules.protectHooks()],
  })
  // a process watches a limited number of trees: their adapters are closed
  const close = async (): Promise<void> => {
    await workspace.close()
    await adapter.close()
  }
  onTestFinished(close)
  return { workspace, watch: adapter.watchTree?.(), close }
}

/** Makes enough directories for a watch. Waits for the watch, and for a walk under it. */
async function watched(root: string): Promise<Workspace> {
  return (await underWatch(root)).workspace
}

async function underWatch(root: string): Promise<{ workspace: Workspace; watch: TreeWatch }> {
  for (let index = 0; index < 120; index += 1) mkdirSync(join(root, `padding/d${index}`), { recursive: true })
  const { workspace, watch } = await openWatched(root)
  await matches(workspace)
  await vi.waitFor(() => expect(watch?.has(at('/padding/d119'))).toBe(true), 20_000)
  await matches(workspace)
  if (watch === undefined) throw new Error('there is no watch')
  return { workspace, watch }
}

/** The path itself. Throws where its links lead out of the root: the acts of this file would change the machine. */
function inside(root: string, path: string): string {
  let there = path
  while (!existsSync(there)) there = dirname(there)
  const real = realpathSync(there)
  if (real !== root && !real.startsWith(`${root}/`)) throw new Error('a link leads out')
  return path
}

/** The paths that rules by pattern are about, found by the walk that a command needs. */
async function matches(workspace: Workspace): Promise<string[]> {
  const found = (await workspace.explain({ operation: 'exec', path: '/' })).matches ?? []
  return found.map(({ path, rule }) => `${path} ${rule}`).toSorted()
}

describe('the walk for rules by pattern', () => {
  it('[RU4] looks into no directory again that has not changed, however many entries it has', async () => {
    const { path: root } = await scratch()
    for (let index = 0; index < 40; index += 1) {
      mkdirSync(join(root, `a${index % 4}/b${index}`), { recursive: true })
      writeFileSync(join(root, `a${index % 4}/b${index}/.env`), '')
    }
    mkdirSync(join(root, 'large'))
    for (let index = 0; index < 500; index += 1) writeFileSync(join(root, `large/file-${index}.txt`), '')
    const workspace = await openWorkspace(root)
    await delay(settling)
    expect(await matches(workspace)).toHaveLength(40)
    const read = vi.spyOn(knownEntries, 'of')
    onTestFinished(() => read.mockRestore())
    expect(await matches(workspace)).toHaveLength(40)
    expect(read).toHaveBeenCalledTimes(0)
    writeFileSync(join(root, 'large/.env'), '')
    writeFileSync(join(root, 'a1/b1/id_rsa'), '')
    expect(await matches(workspace)).toHaveLength(42)
  })

  it.each([
    ['times', openWorkspace],
    ['a watch', watched],
  ])(
    '[RU4] finds what a walk without memory finds, after any change, by %s',
    {
      tags: 'rounds',
      timeout: 120_000,
    },
    async (by, begin) => {
      for (const round of rounds({ quick: 3, most: 200, seconds: 8 })) {
        const { path: root } = await scratch()
        const workspace = await begin(root)
        let state = seed + round
        const draw = (limit: number): number => {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
          return Math.floor((state / 2 ** 32) * limit)
        }
        const pick = (names: readonly string[]): string => names[draw(names.length)] ?? ''
        const directories = ['one', 'two', '.git', 'bare', 'hooks', 'objects', 'refs', 'node_modules']
        const files = ['.env', 'id_rsa', 'HEAD', 'config', 'commondir', 'plain.txt', 'hooks']
        const place = (): string =>
          inside(root, join(root, ...Array.from({ length: draw(3) }, () => pick(directories))))
        const acts: readonly (() => void)[] = [
          () => mkdirSync(join(place(), pick(directories)), { recursive: true }),
          () => mkdirSync(join(place(), pick(directories)), { recursive: true }),
          () => writeFileSync(join(place(), pick(files)), ''),
          () => writeFileSync(join(place(), pick(files)), ''),
          () => rmSync(join(place(), pick([...directories, ...files])), { recursive: true, force: true }),
          () => renameSync(join(place(), pick(directories)), join(place(), pick(directories))),
          () => renameSync(join(place(), pick(files)), join(place(), pick(files))),
          () => symlinkSync(pick(['/', '..', 'one']), join(place(), pick([...directories, ...files]))),
          () => chmodSync(inside(root, join(place(), pick(directories))), pick(['0', '7']) === '0' ? 0 : 0o755),
        ]
        const story: string[] = []
        for (let step = 0; step < 30; step += 1) {
          const which = draw(acts.length)
          try {
            acts[which]?.()
            story.push(String(which))
          } catch {
            // there is no such entry, or another one is in the way: the next act is tried
          }
          // with and without a memory of what came before; a watch needs no time to pass
          if (draw(3) === 0 && by === 'times') await delay(settling)
          if (draw(2) === 0) continue
          const { workspace: fresh, close } = await openWatched(root)
          expect(await matches(workspace), `seed ${seed}, round ${round}, acts ${story.join(' ')}`).toEqual(
            await matches(fresh),
          )
          await close()
        }
      }
    },
  )

  it('[RU4] looks at no directory of a watched tree again but those that changed', async () => {
    const { path: root } = await scratch()
    const workspace = await watched(root)
    const looks = vi.spyOn(knownEntries, 'stampOf')
    onTestFinished(() => looks.mockRestore())
    expect(await matches(workspace)).toEqual([])
    expect(looks).toHaveBeenCalledTimes(0)
    writeFileSync(join(root, 'padding/d7/.env'), '')
    expect(await matches(workspace)).toHaveLength(1)
    expect(looks.mock.calls.length).toBeLessThan(10)
    mkdirSync(join(root, 'padding/d7/new/er'), { recursive: true })
    writeFileSync(join(root, 'padding/d7/new/er/.env'), '')
    expect(await matches(workspace)).toHaveLength(2)
    expect(looks.mock.calls.length).toBeLessThan(30)
  })

  it('[RU4] reads directories again that changed before they were watched', async () => {
    const { path: root } = await scratch()
    const { workspace, watch } = await underWatch(root)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const add = watch.add.bind(watch)
    vi.spyOn(watch, 'add').mockImplementation((paths) => released.then(() => add(paths)))
    mkdirSync(join(root, 'new'))
    expect(await matches(workspace)).toEqual([])
    writeFileSync(join(root, 'new/.env'), '')
    release()
    await vi.waitFor(() => expect(watch.has(at('/new'))).toBe(true), 20_000)
    expect(await matches(workspace)).toHaveLength(1)
  })

  it('[RU4] finds matches in directories that were exchanged, moved in or out, or made again', async () => {
    const { path: root } = await scratch()
    const { path: outside } = await scratch()
    const workspace = await watched(root)
    mkdirSync(join(outside, 'deep/er'), { recursive: true })
    writeFileSync(join(outside, 'deep/er/.env'), '')
    const acts: readonly [() => void, number][] = [
      [() => renameSync(join(outside, 'deep'), join(root, 'padding/d1/deep')), 1],
      [() => renameSync(join(root, 'padding/d1'), join(root, 'padding/moved')), 1],
      [() => renameSync(join(root, 'padding/d2'), join(root, 'padding/d1')), 1],
      [() => writeFileSync(join(root, 'padding/d1/.env'), ''), 2],
      [() => writeFileSync(join(root, 'padding/moved/deep/er/id_rsa'), ''), 3],
      [() => renameSync(join(root, 'padding/moved'), join(outside, 'moved')), 1],
      [() => writeFileSync(join(root, 'padding/d4/.env'), ''), 2],
      [
        () => {
          renameSync(join(root, 'padding/d4'), join(outside, 'd4'))
          renameSync(join(root, 'padding/d5'), join(root, 'padding/d4'))
        },
        1,
      ],
      [() => rmSync(join(root, 'padding'), { recursive: true }), 0],
      [() => mkdirSync(join(root, 'padding/d1'), { recursive: true }), 0],
      [() => writeFileSync(join(root, 'padding/d1/.env'), ''), 1],
      [() => renameSync(join(outside, 'moved'), join(root, 'padding/d3')), 3],
    ]
    for (const [index, [act, count]] of acts.entries()) {
      act()
      expect({ index, count: (await matches(workspace)).length }).toEqual({ index, count })
      // and once more, when the new directories are watched
      expect({ index, count: (await matches(workspace)).length }).toEqual({ index, count })
    }
  })

  it('[RU4] lists only the directories in those that a caller knows', async () => {
    const { path: root } = await scratch()
    mkdirSync(join(root, 'one/two'), { recursive: true })
    writeFileSync(join(root, 'one/two/file'), '')
    writeFileSync(join(root, 'file'), '')
    const adapter: InnerAdapter = await open(root)
    const known = (directory: string): readonly string[] | undefined => (directory === '/' ? ['one'] : undefined)
    const found = await collect(adapter.list(at('/'), { recursive: true, known }))
    expect(found.map(({ path, type }) => `${path} ${type}`)).toEqual([
      '/one directory',
      '/one/two directory',
      '/one/two/file file',
    ])
  })

  it('[RU4] remembers nothing of a directory in which a reserved name is hidden: it may be an entry of its own later', async () => {
    const { path: root } = await scratch()
    mkdirSync(join(root, 'holder/reserved'), { recursive: true })
    mkdirSync(join(root, 'other'))
    await delay(settling)
    const names = vi.spyOn(Reserve.reservedNames, 'names').mockImplementation((path) => path.endsWith('/reserved'))
    const holds = vi.spyOn(Reserve.reservedNames, 'holds').mockImplementation((_, self) => self.endsWith('/reserved'))
    onTestFinished(() => {
      names.mockRestore()
      holds.mockRestore()
    })
    const hidden: string[] = []
    const adapter: InnerAdapter = await open(root)
    const options = { recursive: true, known: () => undefined, onHidden: (path: string) => void hidden.push(path) }
    const found = await collect(adapter.list(at('/'), options))
    expect(found.map(({ path }) => path).toSorted()).toEqual(['/holder', '/other'])
    expect(hidden).toEqual(['/holder'])
  })

  it('[RU4] is told to remember nothing of a directory that changed a moment ago, or has coarse times', () => {
    const clock = { now: 1_000_000 }
    const entries = new KnownEntries(
      () => clock.now,
      () => clock.now,
    )
    const status = { dev: 1n, ino: 2n, ctimeNs: 999_990_000_001n }
    expect(entries.stampOf(1, status)).toBeUndefined()
    clock.now += 130
    const stamp = entries.stampOf(1, status)
    expect(stamp).toBeDefined()
    expect(entries.stampOf(1, status)).toBe(stamp)
    expect(entries.stampOf(1, { ...status, ctimeNs: 999_000_000_000n })).toBeUndefined()
    for (const other of [{ dev: 3n }, { ino: 3n }, { ctimeNs: 999_990_000_002n }])
      expect(entries.stampOf(1, { ...status, ...other })).not.toBe(stamp)
  })

  it('[RU4] takes no stamp from before the clock was set for one of today', () => {
    const clock = { now: 1_000_000, monotonic: 0 }
    const entries = new KnownEntries(
      () => clock.now,
      () => clock.monotonic,
    )
    const status = { dev: 1n, ino: 2n, ctimeNs: 999_000_000_001n }
    const stamp = entries.stampOf(1, status)
    clock.now += 60_000
    expect(entries.stampOf(1, status)).not.toBe(stamp)
  })
})

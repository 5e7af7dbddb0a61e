/** @module-tag rounds */
import { paths } from '@ws/core'
import { fileOperations } from '@ws/core/adapter'
import { type Hostile, hostileNames, hostilePaths, deep } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { adapterOperations, type HostileOperation, workspaceOperations } from './operations.ts'
import { adapterNames, type HostileSite, openHostile, show, verdictOf } from './site.ts'

const temporary = '.ws-tmp-'
const seed = 20_261_122
/** In the ordinary tests, one path of so many: each goes through every operation of two stores. */
const oneOf = deep ? 1 : 36

/** A part of each kind of paths, always the same, and those that a test asks about. */
function sampled(all: readonly Hostile[], asked: readonly string[]): readonly string[] {
  const places = new Map<string, number>()
  const chosen = all.filter(({ kind, value }) => {
    const place = places.get(kind) ?? seed
    places.set(kind, place + 1)
    return place % oneOf === 0 || asked.includes(value)
  })
  return chosen.map(({ value }) => value)
}

/** How each operation ended, in the order of the operations. */
type Verdicts = readonly string[]

/** Each operation with one path. A written file must really be there. */
async function tryAll<Target>(
  site: HostileSite,
  operations: readonly HostileOperation<Target>[],
  target: Target,
  path: string,
): Promise<Verdicts> {
  const verdicts: string[] = []
  for (const { name, writes, run } of operations) {
    const verdict = await verdictOf(site, path, () => run(target, path))
    // only a store on the disk has real directories
    if (name !== 'hostDirectory') verdicts.push(`${name}: ${verdict}`)
    if (verdict !== 'done' || writes === undefined) continue
    const contents = await site.contents()
    if (![...contents.values()].includes(writes)) expect.fail(`${name} ${show(path)} wrote somewhere else`)
  }
  return verdicts
}

/** Each path through each operation in both stores, with a look at what is outside, and inside, after each path. */
async function tryPaths<Target>(
  operations: readonly HostileOperation<Target>[],
  target: (site: HostileSite) => Target,
  forms: (path: string) => readonly string[],
  asked: readonly string[],
): Promise<Map<string, Verdicts>> {
  await using memory = await openHostile('memory')
  await using local = await openHostile('local')
  const before = local.outside()
  const longest = local.adapter.capabilities.maxPathBytes - 300
  const all = new Map<string, Verdicts>()
  const values = [...hostilePaths(local.canary), ...hostilePaths('/ws-test-x/threads/t12/secret.txt').slice(0, 10)]
  for (const path of sampled(values, asked).flatMap(forms)) {
    const verdicts = await tryAll(local, operations, target(local), path)
    const expected = await tryAll(memory, operations, target(memory), path)
    expect(local.outside(), show(path)).toBe(before)
    // names of temporary files, and a part of the longest path, are the local adapter's own
    const bytes = Buffer.byteLength(path)
    if ((bytes < longest || bytes > 5_000) && !path.includes(temporary)) {
      expect(verdicts, show(path)).toEqual(expected)
      expect(await contentsOf(local), show(path)).toEqual(await contentsOf(memory))
    }
    all.set(path, verdicts)
    await memory.reset()
    await local.reset()
  }
  return all
}

async function contentsOf(site: HostileSite): Promise<string[]> {
  return [...(await site.contents())].map((entry) => entry.join(': ')).sort()
}

/** The path as given, and in the form that the parser hands on, where it does. */
function adapterForms(path: string): readonly string[] {
  try {
    const parsed = paths.parse(path.startsWith('/') ? path : `/${path}`).path
    return typeof parsed === 'string' && parsed !== path ? [path, parsed] : [path]
  } catch {
    return [path]
  }
}

describe('hostile paths', () => {
  it('each operation that rules judge gets them', () => {
    for (const tried of [adapterOperations, workspaceOperations]) {
      const names = tried.map(({ name }) => name.split(/[ ,]/u)[0])
      expect(fileOperations.filter((name) => !names.includes(name))).toEqual([])
    }
  })

  it('[PC19, PC22] an adapter answers each with a typed error, or works inside; memory and local alike', async () => {
    const unnormalised = [
      '../t12/secret.txt',
      '/../t12/secret.txt',
      '/dir/../../t12/secret.txt',
      'dir/',
      '/./',
      '//file.txt',
      './/file.txt',
    ]
    const asked = [...unnormalised, '%2e%2e/t12/secret.txt', '/%2e%2e/t12/secret.txt']
    const verdicts = await tryPaths(adapterOperations, ({ adapter }) => adapter, adapterForms, asked)
    expect(verdicts.size).toBeGreaterThan(600 / oneOf)
    // names that only look like something else are names
    expect(verdicts.get('/%2e%2e/t12/secret.txt')).toContain('write with parents: done')
    // the adapter itself refuses paths that are not normalised
    for (const path of unnormalised) {
      for (const verdict of verdicts.get(path) ?? []) expect(verdict, path).toMatch(/: (?:EINVAL|EOUTSIDE)$/)
    }
  })

  it('[PC19, PC22] a workspace answers each with a typed error, or works inside; over memory and local alike', async () => {
    const expected = [
      ['../t12/secret.txt', 'read: EOUTSIDE'],
      ['dir/../../t12/secret.txt', 'write: EOUTSIDE'],
      ['file.txt\0.png', 'read: EINVAL'],
      ['/proc/self/root/etc/passwd', 'read: ENOENT'],
    ] as const
    const verdicts = await tryPaths(
      workspaceOperations,
      ({ workspace }) => workspace,
      (path) => [path],
      expected.map(([path]) => path),
    )
    expect(verdicts.size).toBeGreaterThan(500 / oneOf)
    for (const [path, verdict] of expected) expect(verdicts.get(path), path).toContain(verdict)
  })
})

describe('hostile names', () => {
  for (const name of adapterNames) {
    it(`[PC20, PC21] survive list, search, read, copy, move and delete: ${name}`, async () => {
      await using site = await openHostile(name)
      const { workspace } = site
      const names = hostileNames().map(({ value }) => value)
      for (const each of names) await workspace.write(`names/${each}`, `content of ${each}`)
      const listed: string[] = []
      for await (const entry of workspace.list('names')) listed.push(entry.name)
      expect(listed.sort()).toEqual([...names].sort())
      const found = new Set<string>()
      for await (const hit of workspace.search('content of', { in: 'names', maxHits: 5_000 })) found.add(hit.path)
      for (const each of names) {
        expect(found.has(`/names/${each}`), each).toBe(true)
        expect(await workspace.readText(`names/${each}`), each).toBe(`content of ${each}`)
        await workspace.copy(`names/${each}`, `copies/${each}`)
        await workspace.move(`names/${each}`, `moved/${each}`)
        expect(await workspace.readText(`moved/${each}`), each).toBe(`content of ${each}`)
        await workspace.delete(`copies/${each}`)
        await workspace.delete(`moved/${each}`)
      }
      for (const directory of ['names', 'copies', 'moved']) {
        expect((await workspace.list(directory).next()).done, directory).toBe(true)
      }
    })
  }
})

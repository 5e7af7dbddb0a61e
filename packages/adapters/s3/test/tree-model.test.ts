import { expect, it } from 'vitest'
import { rounds } from '@ws/test-fixtures'
import { KeySpace } from '../src/keys/key-space.ts'
import { compareKeys, linkSuffix } from '../src/keys/names.ts'
import type { ListedKey } from '../src/listing/pages.ts'
import { TreeBuilder } from '../src/listing/tree.ts'
import type { Store } from '../src/store/store.ts'
import { at } from './support.ts'

/** Numbers that are the same in every run: mulberry32. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const pieces = ['a', 'b', 'a', '/', '/', '-', '!', '.', '0', '~', 'é', '\uffff', '😀', linkSuffix]

function randomKeys(random: (below: number) => number): string[] {
  const keys = new Set<string>()
  for (let count = 1 + random(12); count > 0; count -= 1) {
    let key = ''
    for (let length = 1 + random(6); length > 0; length -= 1) key += pieces[random(pieces.length)] ?? ''
    keys.add(key)
  }
  return [...keys].toSorted(compareKeys)
}

function storeFor(links: boolean): Store {
  const keys = new KeySpace({ links })
  return { keys, links, report: () => undefined } as unknown as Store
}

const isName = (name: string, links: boolean): boolean =>
  name !== '' && name !== '.' && name !== '..' && !(links && name.endsWith(linkSuffix))

/** The tree that keys must show, derived without any order. */
function expected(keys: readonly string[], links: boolean): string[] {
  const directories = new Set<string>()
  const lines = new Set<string>()
  const leaves: { readonly path: string; readonly type: 'file' | 'symlink' }[] = []
  for (const key of keys) {
    const segments = key.split('/')
    const last = segments.pop() ?? ''
    let path = ''
    let reachable = true
    for (const segment of segments) {
      if (!isName(segment, links)) {
        lines.add(`unreachable directory ${path}/${segment === '' ? '(empty)' : segment}`)
        reachable = false
        break
      }
      path += `/${segment}`
      directories.add(path)
    }
    if (!reachable || last === '') continue
    const isLink = links && last.endsWith(linkSuffix) && last !== linkSuffix
    const name = isLink ? last.slice(0, -linkSuffix.length) : last
    const type = isLink ? 'symlink' : 'file'
    if (isName(name, links)) leaves.push({ path: `${path}/${name}`, type })
    else lines.add(`unreachable ${type} ${path}/${name}`)
  }
  for (const directory of directories) lines.add(`directory ${directory}`)
  const files = new Set(leaves.filter(({ type }) => type === 'file').map(({ path }) => path))
  for (const { path, type } of leaves) {
    const hidden = directories.has(path) || (type === 'symlink' && files.has(path))
    lines.add(`${hidden ? 'unreachable ' : ''}${type} ${path}`)
  }
  return [...lines].toSorted()
}

it.each([false, true])(
  'shows of any keys what is there, each once, parents first; links: %s',
  { tags: 'rounds' },
  (links) => {
    for (const round of rounds({ quick: 1_000, seconds: 5 })) {
      const seed = round + 1
      const random = randomFrom(seed)
      const keys = randomKeys(random)
      const tree = new TreeBuilder(storeFor(links), { path: at('/'), exclude: [] })
      const listed = keys.map((rest): ListedKey => ({ rest, shown: rest, size: 1, etag: '"e"' }))
      const entries = []
      for (let start = 0; start < listed.length; ) {
        const end = start + 1 + random(4)
        entries.push(...tree.add(listed.slice(start, end)))
        start = end
      }
      entries.push(...tree.finish())
      const lines = entries.map(
        ({ path, type, unreachable }) => `${unreachable === true ? 'unreachable ' : ''}${type} ${path}`,
      )
      const story = `seed ${seed}: ${JSON.stringify(keys)}`
      expect(lines.toSorted(), story).toEqual(expected(keys, links))
      const seen = new Set(['/'])
      for (const { path, type, unreachable } of entries) {
        if (unreachable === true) continue
        const parent = path.slice(0, path.lastIndexOf('/')) || '/'
        expect(seen.has(parent), `${story}: ${path} before its parent`).toBe(true)
        if (type === 'directory') seen.add(path)
      }
    }
  },
)

import type { Names } from './model.ts'
import { same } from './model.ts'
import type { RuleSet } from './rule-sets.ts'

/** A rule set, and links in its tree. */
export interface LinkSet extends RuleSet {
  /** Targets by path below the root. */
  readonly links: Readonly<Record<string, string>>
  /** Paths worth writing at, below the root. */
  readonly tried: readonly string[]
}

export type State = 'file' | 'directory' | 'link' | 'missing' | 'nowhere' | 'foreign'

/** The way of a path, as the kernel goes it. */
export interface Way {
  /** Each path that a link is met on, with the link. */
  readonly hops: readonly { readonly path: Names; readonly link: Names }[]
  readonly landed: Names
  readonly state: State
}

const names = ['.env', '.ENV', 'x.pem', 'id_rsa', 'keys', 'a', 'b', 'out', 'l'] as const

export function rootOf({ root }: Pick<RuleSet, 'root'>): Names {
  return root === '/' ? [] : ['workspace']
}

/** The tree of a set as the kernel would see it. Slow, and shares no code with the workspace. */
export class LinkTree {
  readonly #root: Names
  readonly #entries = new Map<string, 'file' | 'directory' | { readonly target: string }>()

  constructor(set: Pick<LinkSet, 'root' | 'files' | 'mounted' | 'links'>) {
    this.#root = rootOf(set)
    const { root } = set
    this.#entries.set('', 'directory')
    if (root !== '/') this.#entries.set('workspace', 'directory')
    for (const file of [...set.files, ...set.mounted]) this.#add(file, 'file')
    for (const [path, target] of Object.entries(set.links)) this.#add(path, { target })
  }

  #add(path: string, entry: 'file' | { readonly target: string }): void {
    const parts = [...this.#root, ...path.split('/')]
    for (let length = 1; length < parts.length; length += 1)
      this.#entries.set(parts.slice(0, length).join('/'), 'directory')
    this.#entries.set(parts.join('/'), entry)
  }

  /** Everything in the tree. */
  get paths(): readonly Names[] {
    return [...this.#entries.keys()].map((path) => (path === '' ? [] : path.split('/')))
  }

  /** The names in a directory. */
  in(directory: Names): readonly string[] {
    return this.paths
      .filter((path) => path.length === directory.length + 1 && same(path.slice(0, -1), directory))
      .map((path) => path.at(-1) ?? '')
  }

  way(given: Names, followsLast: boolean): Way {
    const hops: { path: Names; link: Names }[] = []
    for (let path = given; ; ) {
      const first = path[0]
      // An alias of the root.
      if (this.#root.length === 0 && first === 'workspace') path = path.slice(1)
      if (path.length > 0 && (first === 'tmp' || first === 'etc')) return { hops, landed: path, state: 'foreign' }
      const at = path.findIndex((_name, index) => this.#entries.get(path.slice(0, index + 1).join('/')) !== 'directory')
      // Above the mounts nothing can be written.
      if (at === -1) return { hops, landed: path, state: path.length < this.#root.length ? 'foreign' : 'directory' }
      const here = path.slice(0, at + 1)
      const entry = this.#entries.get(here.join('/'))
      const isLast = at === path.length - 1
      if (typeof entry !== 'object') {
        const state = entry === 'file' ? 'file' : 'missing'
        return { hops, landed: path, state: isLast ? state : 'nowhere' }
      }
      if (isLast && !followsLast) return { hops, landed: path, state: 'link' }
      hops.push({ path, link: here })
      if (hops.length > 40) return { hops, landed: path, state: 'nowhere' }
      path = [...targetOf(here, entry.target), ...path.slice(at + 1)]
    }
  }
}

/** Where a link leads. Its target climbs at its beginning only. */
function targetOf(link: Names, target: string): Names {
  const climbed: string[] = target.startsWith('/') ? [] : [...link.slice(0, -1)]
  for (const name of target.split('/')) {
    if (name === '..') climbed.pop()
    else if (name !== '' && name !== '.') climbed.push(name)
  }
  return climbed
}

/** Adds links to a set: at names that rules are about, to files, directories, other mounts, links, ancestors and nowhere. */
export function addLinks(given: RuleSet, random: () => number): LinkSet {
  const pick = <Item>(list: readonly Item[]): Item => list[Math.floor(random() * list.length)] as Item
  const root = rootOf(given)
  const links: Record<string, string> = {}
  let { files } = given
  // Names that rules are about become links, and their entries go elsewhere.
  for (let index = Math.floor(random() * 3); index > 0; index -= 1) {
    const parts = pick(files).split('/')
    const path = parts.slice(0, 1 + Math.floor(random() * parts.length)).join('/')
    const moved = `real-${index}`
    if (path.startsWith('free') || path.startsWith('real') || Object.keys(links).some((link) => link.startsWith(path)))
      continue
    files = files.map((file) => (`${file}/`.startsWith(`${path}/`) ? moved + file.slice(path.length) : file))
    links[path] =
      random() < 0.5 ? `/${[...root, moved].join('/')}` : `${'../'.repeat(path.split('/').length - 1)}${moved}`
  }
  const set = { ...given, files }
  let tree = new LinkTree({ ...set, links })
  const own = (path: Names): string => path.slice(root.length).join('/')
  const isOwn = (path: Names): boolean => path.length > root.length && path[root.length] !== 'm'
  const ruled = set.rules
    .flatMap((rule) => (rule.kind === 'entries' ? rule.entries.map(({ at }) => at) : []))
    .filter(isOwn)
    .flatMap((path) => path.slice(root.length).map((_name, index) => path.slice(0, root.length + index + 1)))
  for (let tries = 4 + Math.floor(random() * 6); tries > 0; tries -= 1) {
    const directories = tree.paths.filter((path) => tree.way(path, false).state === 'directory')
    const inside = directories.filter((path) => path.length === root.length || isOwn(path))
    const path = ruled.length > 0 && random() < 0.5 ? pick(ruled) : [...pick(inside), pick(names)]
    const { state } = tree.way(path.slice(0, -1), false)
    const free = tree.way(path, false).state
    // Below a file nothing can be, and links lie in real directories.
    if (free !== 'missing' && free !== 'nowhere') continue
    if (state !== 'directory' && state !== 'missing' && state !== 'nowhere') continue
    if (path.some((_name, index) => ['file', 'link'].includes(tree.way(path.slice(0, index), false).state))) continue
    const all = tree.paths.filter((one) => one.length > root.length)
    const up = Array.from({ length: path.length - 1 }, () => '..')
    const to = pick(all) ?? root
    const isSpecial = random() < 0.35
    const target = isSpecial
      ? pick(['.', '..', '/', '/tmp', `${own(path)}`, 'nowhere', 'no/where', '/etc/hosts', up.join('/') || '.'])
      : random() < 0.5
        ? `/${[...(set.root === '/' && random() < 0.3 ? ['workspace'] : []), ...to].join('/')}`
        : [...up, ...to].join('/')
    links[own(path)] = target
    tree = new LinkTree({ ...set, links })
  }
  return { ...set, links, tried: triedOf(set, tree, links, random) }
}

function triedOf(set: RuleSet, tree: LinkTree, links: LinkSet['links'], random: () => number): readonly string[] {
  const root = rootOf(set)
  const tried = new Set<string>()
  for (const link of Object.keys(links)) {
    tried.add(link)
    const { landed, state } = tree.way([...root, ...link.split('/')], true)
    if (state === 'directory') for (const name of [...tree.in(landed), 'new']) tried.add(`${link}/${name}`)
    else if (state === 'missing') tried.add(`${link}/new`)
    if (landed.length > root.length && same(landed.slice(0, root.length), root))
      tried.add(landed.slice(root.length).join('/'))
  }
  for (const path of set.asked) if (random() < 0.2) tried.add(path)
  for (const link of tried) {
    const { landed, state } = tree.way([...root, ...link.split('/')], true)
    if (state === 'directory' && random() < 0.3) for (const name of tree.in(landed)) tried.add(`${link}/${name}`)
    if (tried.size > 60) break
  }
  return [...tried]
}

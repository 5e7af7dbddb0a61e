import { rules } from '@ws/core'
import type { Rule } from '@ws/core'
import type { Access, EntrySpec, Names, RuleSpec, World } from './model.ts'
import { same } from './model.ts'

/** A tree, rules over it as they are written, and what they are meant to mean. */
export interface RuleSet extends World {
  readonly root: '/' | '/workspace'
  /** Files, from the root: their parents are directories. */
  readonly files: readonly string[]
  /** Files of a read-only mount at `m` below the root; none without that mount. */
  readonly mounted: readonly string[]
  readonly written: readonly Rule[]
  /** Paths worth asking about, from the root; some are missing. */
  readonly asked: readonly string[]
}

const usualNames = [
  'a',
  'b',
  'A',
  'keys',
  'out',
  '.env',
  '.env.example',
  '.ENV',
  'id_rsa',
  'node_modules',
  'x.pem',
] as const

const last = (path: Names): string => (path.at(-1) ?? '').toLowerCase()
const ends = (path: Names, ...wanted: string[]): boolean =>
  wanted.length <= path.length && wanted.every((name, index) => path.at(index - wanted.length)?.toLowerCase() === name)

type Test = (path: Names, root: Names) => boolean

/** Globs with what they mean, said in another way. */
const globs: readonly (readonly [string, Test])[] = [
  ['.env*', (path) => last(path).startsWith('.env')],
  ['*.pem', (path) => last(path).endsWith('.pem')],
  ['id_rsa', (path) => last(path) === 'id_rsa'],
  ['a/keys', (path) => ends(path, 'a', 'keys')],
  ['{out,b}/?', (path) => path.length > 1 && last(path).length === 1 && /^(?:out|b)$/i.test(path.at(-2) ?? '')],
  ['./a/*', (path, root) => path.length === root.length + 2 && ends(path.slice(0, -1), ...root, 'a')],
  ['**/b/**', (path) => path.slice(0, -1).some((name) => name.toLowerCase() === 'b')],
  ['[ko]*[!x]', (path) => /^[ko].*[^x]$/i.test(path.at(-1) ?? '')],
]

export interface SetOptions {
  /** Rules that no command can be held to are left out. */
  readonly forCommands: boolean
}

export function makeRuleSet(random: () => number, { forCommands }: SetOptions): RuleSet {
  const below = (count: number): number => Math.floor(random() * count)
  const pick = <Item>(list: readonly Item[]): Item => list[below(list.length)] as Item
  const names: string[] = [...usualNames]
  const root = pick(['/', '/workspace'] as const)
  const rootNames: Names = root === '/' ? [] : ['workspace']
  const somePath = (): string => Array.from({ length: 1 + below(3) }, () => pick(names)).join('/')

  const files: string[] = []
  for (let count = 4 + below(8); count > 0; count -= 1) {
    const file = somePath()
    const clashes = files.some((one) => one === file || one.startsWith(`${file}/`) || file.startsWith(`${one}/`))
    if (!clashes) files.push(file)
  }
  const mounted = random() < 0.25 ? ['m/a/.env', 'm/keys', 'm/x.pem'] : []
  if (mounted.length > 0) names.push('m')
  const someRulePath = (): string => {
    const file = pick([...files, ...mounted]).split('/')
    return random() < 0.6 ? file.slice(0, 1 + below(file.length)).join('/') : somePath()
  }
  const absolute = (path: string): Names => [...rootNames, ...path.split('/')]

  /** Every way to write a path of the workspace. */
  const spell = (path: string): string =>
    pick([
      path,
      `./${path}`,
      `${path}/`,
      root === '/' ? `/${path}` : `/workspace/${path}`,
      `/workspace/${path}`,
      `//workspace/./${path}//`,
    ])

  const specs: RuleSpec[] = []
  const written: Rule[] = []
  const add = (spec: RuleSpec, rule: Rule): void => {
    specs.push(spec)
    written.push(rule)
  }
  for (let index = 1 + below(4); index > 0; index -= 1) {
    const name = `rule-${index}`
    const path = someRulePath()
    const at = absolute(path)
    const entriesRule = (entries: readonly EntrySpec[], confines = false): RuleSpec => ({
      kind: 'entries',
      name,
      entries,
      confines,
    })
    switch (below(7)) {
      case 0:
        add(entriesRule([{ at, access: 'none' }]), rules.deny(spell(path), { name }))
        break
      case 1:
        add(entriesRule([{ at, access: 'read-only' }]), rules.readOnly(spell(path), { name }))
        break
      case 2: {
        const entries = [
          { at: [], access: 'read-only' },
          { at, access: 'read-write' },
        ] as const
        add(entriesRule(entries, true), rules.withinOutput(spell(path), { name }))
        break
      }
      case 3: {
        const inside = pick(['.', '', '/', path])
        const there = inside === '/' ? [] : inside === path ? at : rootNames
        const outside: readonly EntrySpec[] = there.length === 0 ? [] : [{ at: [], access: 'none' }]
        const own: EntrySpec = { at: there, access: 'read-write' }
        add(
          entriesRule([...outside, own], true),
          rules.withinWorkspace(inside === path ? spell(path) : inside, { name }),
        )
        break
      }
      case 4: {
        const accesses: readonly Access[] = forCommands
          ? ['read-write', 'read-only', 'none']
          : ['read-write', 'read-only', 'write-only', 'none']
        const entries = new Map<string, Access>()
        for (let count = 1 + below(3); count > 0; count -= 1) entries.set(someRulePath(), pick(accesses))
        const list = [...entries].map(([one, access]) => ({ at: absolute(one), access }))
        const spelt = Object.fromEntries([...entries].map(([one, access]) => [spell(one), access] as const))
        add(entriesRule(list), rules.subtree({ name, entries: spelt }))
        break
      }
      case 5: {
        const [glob, test] = pick(globs)
        const matches = (one: Names): boolean => test(one, rootNames)
        const never = (): boolean => false
        add(
          { kind: 'pattern', name, access: 'none', matches, leavesAlone: never, skips: never },
          pick([rules.denyGlob, rules.ask])(glob, { name }),
        )
        break
      }
      default: {
        const [[glob, test], [except, spares], [skip, passes]] = [pick(globs), pick(globs), pick(globs)]
        const access = pick(['none', 'read-only'] as const)
        add(
          {
            kind: 'pattern',
            name,
            access,
            matches: (one) => test(one, rootNames),
            leavesAlone: (one) => spares(one, rootNames),
            skips: (one) => passes(one, rootNames),
          },
          {
            ...pick([rules.denyGlob, rules.ask])(glob, { name }),
            access,
            except: [except],
            skip: [skip],
            reason: undefined,
          },
        )
      }
    }
  }
  if (specs.some((spec) => spec.kind === 'entries' && spec.confines) && random() < 0.5) {
    const path = someRulePath()
    const at = absolute(path)
    const access = pick(['read-write', 'read-only'] as const)
    // A rule that names the path itself is an error, and no exception.
    const named = specs.some(
      (spec) => spec.kind === 'entries' && spec.confines && spec.entries.some((entry) => same(entry.at, at)),
    )
    if (!named) {
      const name = 'exception'
      add(
        { kind: 'exception', name, entry: { at, access } },
        rules.allow(spell(path), { name, access, justification: 'drawn by lot' }),
      )
    }
  }

  const asked = new Set<string>()
  for (const file of [...files, ...mounted]) {
    const parts = file.split('/')
    for (let length = 1; length <= parts.length; length += 1) asked.add(parts.slice(0, length).join('/'))
    asked.add(file.toUpperCase())
  }
  for (const { at } of specs.flatMap((spec) =>
    spec.kind === 'entries' ? spec.entries : spec.kind === 'exception' ? [spec.entry] : [],
  )) {
    if (at.length > rootNames.length) asked.add(at.slice(rootNames.length).join('/'))
  }
  for (let count = 0; count < 6; count += 1) asked.add(somePath())
  const readOnlyMount = mounted.length > 0 ? absolute('m') : undefined
  return { root, files, mounted, readOnlyMount, rules: specs, written, asked: [...asked] }
}

/**
 * The meaning of a set of rules, computed slowly from the requirements. It shares no code with the policy: a change of
 * one needs the same change of the other.
 */

export type Right = 'read' | 'write'
export type Access = 'read-write' | 'read-only' | 'write-only' | 'none'

/** Absolute names: `[]` is the root of the namespace. */
export type Names = readonly string[]

export interface EntrySpec {
  readonly at: Names
  readonly access: Access
}

export type RuleSpec =
  | {
      readonly kind: 'entries'
      readonly name: string
      readonly entries: readonly EntrySpec[]
      readonly confines: boolean
    }
  | { readonly kind: 'exception'; readonly name: string; readonly entry: EntrySpec }
  | {
      readonly kind: 'pattern'
      readonly name: string
      readonly access: 'none' | 'read-only'
      readonly matches: (path: Names) => boolean
      readonly leavesAlone: (path: Names) => boolean
      readonly skips: (path: Names) => boolean
    }

export interface World {
  readonly rules: readonly RuleSpec[]
  /** Look-alikes of denied names count: not for removing them. Default true. */
  readonly lookAlikes?: boolean | undefined
  /** Where a read-only mount lies, if there is one. */
  readonly readOnlyMount?: Names | undefined
}

const grants: Readonly<Record<Access, readonly Right[]>> = {
  'read-write': ['read', 'write'],
  'read-only': ['read'],
  'write-only': ['write'],
  none: [],
}

export type Answer = 'allow' | 'EACCES' | 'EROFS'

export function answer(world: World, path: Names, right: Right): Answer {
  for (const rule of world.rules) {
    if (!ruleAllows(world, rule, path, right)) return 'EACCES'
  }
  if (right === 'write' && world.readOnlyMount !== undefined && within(path, world.readOnlyMount)) return 'EROFS'
  return 'allow'
}

function ruleAllows(world: World, rule: RuleSpec, path: Names, right: Right): boolean {
  switch (rule.kind) {
    case 'exception':
      return true
    case 'pattern':
      return rule.access === 'read-only' && right === 'read' ? true : !isUnderPattern(rule, path)
    case 'entries': {
      const entries = entriesOf(world, rule)
      // The workspace's own scratch is left out of what does not name it.
      if (path[0] === 'tmp' && !entries.some(({ at }) => at[0] === 'tmp')) return true
      if (world.lookAlikes !== false && isLookAlike(entries, path)) return false
      let longest: EntrySpec | undefined
      for (const entry of entries) {
        if (within(path, entry.at) && (longest === undefined || entry.at.length > longest.at.length)) longest = entry
      }
      return longest === undefined || grants[longest.access].includes(right)
    }
  }
}

/** Exceptions belong to every rule that confines. */
export function entriesOf(world: World, rule: Extract<RuleSpec, { kind: 'entries' }>): readonly EntrySpec[] {
  if (!rule.confines) return rule.entries
  return [...rule.entries, ...world.rules.flatMap((one) => (one.kind === 'exception' ? [one.entry] : []))]
}

/** The path, or a directory on it, is spelt like a denied one, and the rule does not name that spelling itself. */
function isLookAlike(entries: readonly EntrySpec[], path: Names): boolean {
  for (let length = 1; length <= path.length; length += 1) {
    const above = path.slice(0, length)
    const looks = entries.some(({ at, access }) => access === 'none' && at.length > 0 && folded(at) === folded(above))
    if (looks && !entries.some(({ at }) => same(at, above))) return true
  }
  return false
}

export function isUnderPattern(rule: Extract<RuleSpec, { kind: 'pattern' }>, path: Names): boolean {
  for (let length = 1; length <= path.length; length += 1) {
    const above = path.slice(0, length)
    if (rule.matches(above) && !rule.leavesAlone(above)) return true
    if (rule.skips(above)) return false
  }
  return false
}

/** The name is spelt like a denied one. Where it is missing, a command can make it. */
export function looksDenied(world: World, path: Names): boolean {
  return world.rules.some((rule) => rule.kind === 'entries' && isLookAlike(entriesOf(world, rule), path))
}

export function within(path: Names, root: Names): boolean {
  return root.length <= path.length && same(path.slice(0, root.length), root)
}

export function same(left: Names, right: Names): boolean {
  return left.length === right.length && left.every((name, index) => name === right[index])
}

function folded(path: Names): string {
  return path.join('/').toLowerCase()
}

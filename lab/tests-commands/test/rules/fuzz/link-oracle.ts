import type { LinkSet, LinkTree, Way } from './link-trees.ts'
import type { Names, Right, RuleSpec } from './model.ts'
import { answer, entriesOf, isUnderPattern, within } from './model.ts'

/** A rule that says no. */
interface Denial {
  readonly rule: RuleSpec | 'mount'
  /** The path that it names. Absent: a look-alike, or a mount. */
  readonly named?: Names | undefined
}

export interface Question {
  /** Below the root of the namespace. */
  readonly path: Names
  readonly right: Right
  readonly followsLast: boolean
  /** Look-alikes of denied names count. */
  readonly lookAlikes: boolean
}

export interface Judgement {
  readonly refused: boolean
  /** Refused by a rule that names a link on the way, or a name below one; the name. */
  readonly named?: Names | undefined
  readonly way: Way
  /** Some step was refused by a rule about the area in which a link lies. */
  readonly detour: boolean
}

export function denials(set: LinkSet, path: Names, right: Right, lookAlikes = true): Denial[] {
  const exceptions = set.rules.filter(({ kind }) => kind === 'exception')
  const found: Denial[] = []
  for (const rule of set.rules) {
    if (rule.kind === 'exception') continue
    const world = { rules: [rule, ...exceptions], lookAlikes }
    if (answer(world, path, right) === 'allow') continue
    found.push({
      rule,
      named: rule.kind === 'pattern' ? highestMatch(rule, path) : longestEntry(set, rule, path, right),
    })
  }
  if (right === 'write' && set.readOnlyMount !== undefined && within(path, set.readOnlyMount))
    found.push({ rule: 'mount' })
  return found
}

function highestMatch(rule: Extract<RuleSpec, { kind: 'pattern' }>, path: Names): Names {
  for (let length = 1; length < path.length; length += 1) {
    if (isUnderPattern(rule, path.slice(0, length))) return path.slice(0, length)
  }
  return path
}

function longestEntry(
  set: LinkSet,
  rule: Extract<RuleSpec, { kind: 'entries' }>,
  path: Names,
  right: Right,
): Names | undefined {
  const covering = entriesOf(set, rule).filter(({ at }) => within(path, at))
  const longest = covering.toSorted((one, other) => other.at.length - one.at.length)[0]
  const grants = longest === undefined || longest.access === 'read-write' || longest.access === `${right}-only`
  return grants ? undefined : longest.at
}

/** The answer of the rules to an operation at a path, link by link. */
export function judge(set: LinkSet, tree: LinkTree, { path, right, followsLast, lookAlikes }: Question): Judgement {
  const way = tree.way(path, followsLast)
  let detour = false
  for (const { path: at, link } of [...way.hops, { path: way.landed, link: undefined }]) {
    const found = denials(set, at, right, lookAlikes)
    const named = link === undefined ? undefined : found.find((one) => (one.named?.length ?? 0) >= link.length)?.named
    if (named !== undefined) return { refused: true, named, way, detour }
    // The way on from there has to be readable.
    if (found.length > 0 && (right === 'read' || link === undefined)) return { refused: true, way, detour }
    detour ||= found.length > 0
    if (detour && denials(set, at, 'read', lookAlikes).length > 0) return { refused: true, way, detour }
  }
  return { refused: false, way, detour }
}

import { seededRandom } from '@ws/test-fixtures'

/** A diff in the V4A form for a text, as a model would write it, with or without a mistake. */
export interface GeneratedPatch {
  readonly text: string
  readonly diff: string
  /** The mistake in it, or the way it is written. */
  readonly kind: Kind
}

export const kinds = [
  'plain',
  'anchors',
  'narrowing anchors',
  'little context',
  'a blank line behind',
  'the end of the file',
  'an addition alone',
  'other blanks at the ends',
  'another indent',
  'another order',
  'a wrong anchor',
  'a wrong line',
  'context alone',
  'shared context',
] as const
export type Kind = (typeof kinds)[number]

/** Patches that are the same for the same seed, the kinds in turn. */
export function generatePatches(texts: readonly string[], count: number, seed: number): GeneratedPatch[] {
  const next = seededRandom(seed)
  const random = (below: number): number => (next() * 2 ** 32) % below
  return Array.from({ length: count }, (_, index) => {
    const kind = kinds[index % kinds.length] as Kind
    const text = texts[random(texts.length)] as string
    return { text, kind, diff: diffOf(text, kind, random) }
  })
}

type Random = (below: number) => number

function diffOf(text: string, kind: Kind, random: Random): string {
  const lines = text.replace(/\n$/u, '').split('\n')
  if (kind === 'an addition alone')
    return [...anchorsAbove(lines, lines.length - 1, random(2), random), '+added'].join('\n')
  const around = kind === 'little context' ? random(2) : 3
  const places = pickPlaces(lines.length, kind === 'little context' ? 3 : 1 + random(3), random)
  const isShared = kind === 'shared context'
  let taken = 0
  let hunks = places.map((at, index) => {
    const before = lines.slice(Math.max(at - around, isShared ? 0 : taken), at)
    taken = Math.min(at + 1 + around, places[index + 1] ?? lines.length)
    const behind = lines.slice(at + 1, taken)
    const change = kind === 'context alone' ? [` ${lines[at]}`] : changeOf(lines[at] as string, random)
    const count = kind === 'narrowing anchors' ? 2 : kind === 'anchors' ? 1 : kind === 'little context' ? random(2) : 0
    const anchors = anchorsAbove(lines, at - before.length, count, random)
    return [...anchors, ...(anchors.length === 0 ? ['@@'] : []), ...before.map(kept), ...change, ...behind.map(kept)]
  })
  if (kind === 'another order') hunks = hunks.toReversed()
  const diff = hunks.flat()
  if (kind === 'a blank line behind') diff.push('', '')
  if (kind === 'the end of the file') diff.push('*** End of File')
  if (kind === 'other blanks at the ends')
    return diff.map((line) => (/^[ -]/u.test(line) ? `${line}  ` : line)).join('\n')
  if (kind === 'another indent') return diff.map((line) => line.replace(/^([ +-])/u, '$1  ')).join('\n')
  if (kind === 'a wrong anchor') return diff.join('\n').replace(/^@@.*/u, '@@ class Missing:')
  if (kind === 'a wrong line') return diff.join('\n').replace(/^([ -]).*/mu, '$1nowhere in it')
  return diff.join('\n')
}

const kept = (line: string): string => ` ${line}`

function changeOf(line: string, random: Random): string[] {
  const indent = /^\s*/u.exec(line)?.[0] ?? ''
  const added = [`+${indent}changed ${random(1000)}`]
  return [[`-${line}`, ...added], [...added, kept(line)], [kept(line), ...added], [`-${line}`]][random(4)] as string[]
}

/** Ascending places, at least one line apart. */
function pickPlaces(length: number, most: number, random: Random): number[] {
  const places = new Set<number>()
  for (let index = 0; index < most; index += 1) places.add(random(length))
  const sorted = [...places].toSorted((left, right) => left - right)
  return sorted.filter((at, index) => index === 0 || at - (sorted[index - 1] as number) > 1)
}

/** Lines above that have less indent, the outermost first, as a model names a class and its function. */
function anchorsAbove(lines: readonly string[], below: number, count: number, random: Random): string[] {
  const anchors: string[] = []
  let indent = Infinity
  for (let at = below - 1; at >= 0 && anchors.length < count; at -= 1) {
    const line = lines[at] as string
    const own = /^\s*/u.exec(line)?.[0].length ?? 0
    if (line.trim() === '' || own >= indent) continue
    indent = own
    anchors.unshift(`@@ ${random(4) === 0 ? line.trim() : line}`)
  }
  return anchors
}

import { isMap, isScalar, isSeq, Lexer, LineCounter, parseDocument, visit } from 'yaml'
import type { Document, Pair, YAMLMap } from 'yaml'

export interface PlanSource {
  readonly value: unknown
  lineOf(path: readonly PropertyKey[]): number | undefined
}

export interface SyntaxProblem {
  readonly line?: number | undefined
  readonly reason: string
}

const maxBytes = 4 * 1024 * 1024
/** Limit of keys, list items and tags: 10,000 steps of five lines each. The parser takes 20 µs for each part. */
const maxParts = 50_000
/** Limit of lines outside texts, empty lines included. The parser needs 3 µs for each line. */
const maxLines = 100_000

/** Reads YAML 1.2, which includes JSON. A plan given as data has no lines. */
export function readSource(given: unknown): PlanSource | SyntaxProblem {
  if (typeof given !== 'string') return { value: given, lineOf: () => undefined }
  if (given.length > maxBytes) return { reason: 'the plan is longer than 4 MiB' }
  const tooMany = tooManyParts(given)
  if (tooMany !== undefined) return { reason: tooMany }
  const lines = new LineCounter()
  const document = parseDocument(given, {
    lineCounter: lines,
    prettyErrors: false,
    // the parser compares each key with all earlier keys: 200,000 keys would take minutes
    uniqueKeys: false,
    logLevel: 'error',
  })
  const [error] = document.errors
  if (error !== undefined) {
    const [first = ''] = error.message.split('\n')
    return { line: lines.linePos(error.pos[0]).line, reason: `is not YAML or JSON: ${first}` }
  }
  const twice = keyTwice(document)
  if (twice !== undefined) {
    const { line } = lines.linePos(twice.at)
    return {
      line,
      reason: `is not YAML or JSON: the key \`${twice.key.slice(0, 60).toWellFormed()}\` is not unique in its map`,
    }
  }
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), lineOf: (path) => lineOf(document, lines, path) }
  } catch (error) {
    return { line: 1, reason: `is not YAML: ${error instanceof Error ? error.message : 'it cannot be resolved'}` }
  }
}

const isPart = /^(?:[:\-,?\]}]$|[!&*])/u

function tooManyParts(text: string): string | undefined {
  let parts = 0
  let lines = 0
  for (const token of new Lexer().lex(text)) {
    if (isPart.test(token)) parts += 1
    else if (token === '\n' || token === '\r\n') lines += 1
    if (parts > maxParts) return `the plan has more than ${maxParts} keys and items`
    if (lines > maxLines) return `the plan has more than ${maxLines} lines`
  }
  return undefined
}

function keyTwice(document: Document): { readonly key: string; readonly at: number } | undefined {
  let found: { readonly key: string; readonly at: number } | undefined
  visit(document, {
    Map(_, { items }: YAMLMap) {
      const known = new Set<string>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        const text = String(key.value)
        if (known.has(text)) found = { key: text, at: key.range?.[0] ?? 0 }
        if (found !== undefined) return visit.BREAK
        known.add(text)
      }
      return undefined
    },
  })
  return found
}

/** Pairs of a map by key: a separate search for each of 40,000 faults would take half a minute. */
const pairs = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>()

function pairOf(map: YAMLMap, key: PropertyKey): Pair | undefined {
  let known = pairs.get(map)
  if (known === undefined) {
    known = new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair]] : [])))
    pairs.set(map, known)
  }
  return known.get(String(key))
}

function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = document.contents
  let start = startOf(node)
  for (const key of path) {
    const pair = isMap(node) ? pairOf(node, key) : undefined
    node = isSeq(node) ? node.items[Number(key)] : pair?.value
    // the key of a pair, since the value can begin some lines below its key
    start = startOf(pair?.key ?? node) ?? start
  }
  return start === undefined ? undefined : lines.linePos(start).line
}

function startOf(node: unknown): number | undefined {
  return (node as { readonly range?: readonly number[] | null } | null | undefined)?.range?.[0]
}

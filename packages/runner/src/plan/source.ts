import { isMap, isScalar, Lexer, LineCounter, parseDocument, visit, type Document, type YAMLMap } from 'yaml'

/** A plan as it was written, and the lines of its parts. */
export interface PlanSource {
  readonly value: unknown
  /** The line of the value at a path of names and indices, or of the nearest part around it; from 1. */
  lineOf(path: readonly PropertyKey[]): number | undefined
}

/** A fault of the syntax. */
export interface SyntaxProblem {
  readonly line?: number | undefined
  readonly reason: string
}

const maxBytes = 4 * 1024 * 1024
/** Keys and items of lists: 10,000 steps of five lines each. The parser takes 20 µs for each of them. */
const maxParts = 50_000

/** Reads JSON or YAML 1.2, of which JSON is a part. Data that is not text has no lines. */
export function readSource(given: unknown): PlanSource | SyntaxProblem {
  if (typeof given !== 'string') return { value: given, lineOf: () => undefined }
  if (given.length > maxBytes) return { reason: 'the plan is longer than 4 MiB' }
  if (hasMoreParts(given)) return { reason: `the plan has more than ${maxParts} keys and items` }
  const lines = new LineCounter()
  const document = parseDocument(given, {
    lineCounter: lines,
    prettyErrors: false,
    // it compares each key with all before it: 200,000 keys would take minutes
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

function hasMoreParts(text: string): boolean {
  let parts = 0
  for (const token of new Lexer().lex(text)) {
    if (token !== ':' && token !== '-' && token !== ',' && token !== '?') continue
    parts += 1
    if (parts > maxParts) return true
  }
  return false
}

/** The first key that its map has already, and its place in the text. */
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

function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const part = path.slice(0, length)
    const node = length === 0 ? document.contents : keyNode(document, part)
    const range = (node as { readonly range?: readonly number[] | null } | null | undefined)?.range
    if (range?.[0] !== undefined) return lines.linePos(range[0]).line
  }
  return undefined
}

/** The key of a pair rather than its value: a value can begin lines below. */
function keyNode(document: Document, path: readonly PropertyKey[]): unknown {
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const last = path.at(-1)
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => (isScalar(key) ? String(key.value) : undefined) === String(last))
    return pair?.key
  }
  return document.getIn(path, true)
}

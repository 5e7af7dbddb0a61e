import type { IncomingMessage } from 'node:http'

import { PathPattern, type ReadPath, readPath } from './path.ts'
import type { RequestMatch, RequestRule } from './types.ts'

/** Limit of bytes of a path: rules compare every reading of the path. */
const longestPath = 2_048
/** Headers that make some servers treat a request as a different request. A rule can match these headers by name. */
const overrides = {
  method: ['x-http-method-override', 'x-http-method', 'x-method-override'],
  path: ['x-original-url', 'x-rewrite-url'],
} as const
const patterns = new WeakMap<RequestMatch, PathPattern>()

/** Why a server could misread a request: a part of a sentence, printed after "the path" or "the request". */
export interface Unclear {
  readonly unclear: string
}

/** The rule that matches every reading of the path. `undefined` if no rule matches; `long` if the path is too long for rules. */
export function ruleFor(
  request: IncomingMessage,
  rules: readonly RequestRule[],
): RequestRule | Unclear | 'long' | undefined {
  const { url = '' } = request
  const end = url.includes('?') ? url.indexOf('?') : url.length
  const [path, query] = [url.slice(0, end), url.slice(end + 1)]
  const asks = (part: keyof RequestMatch): boolean => rules.some(({ match }) => match?.[part] !== undefined)
  // refused even if an earlier rule ignores the path: no honest program sends such a path
  if (asks('path') && path.length > longestPath) return 'long'
  if ((asks('path') || asks('query')) && url.includes('#')) return { unclear: 'its path has a `#`' }
  const readings = asks('path') ? readPath(path) : ([{ text: path, steps: [] }] as const)
  if (typeof readings === 'string') return { unclear: `its path ${readings}` }
  // some servers take `;` for `&`
  const queries = (asks('query') ? [query, query.replaceAll(';', '&')] : []).map((text) => new URLSearchParams(text))
  const [rule, ...others] = readings.map((read) =>
    rules.find(({ match = {} }) => matches(match, { request, read, queries })),
  )
  if (rule !== undefined && others.some((other) => other !== rule))
    return { unclear: 'its path has an encoded `/`, a parameter or another part in which servers differ' }
  const names = (['method', 'path'] as const).flatMap((part) => (asks(part) ? overrides[part] : []))
  const known = Object.keys(rule?.match?.headers ?? {}).map((name) => name.toLowerCase())
  const override = names.find((name) => request.headers[name] !== undefined && !known.includes(name))
  return rule !== undefined && override !== undefined ? { unclear: `it has the header \`${override}\`` } : rule
}

interface Parts {
  readonly request: IncomingMessage
  readonly read: ReadPath
  readonly queries: readonly URLSearchParams[]
}

function matches(match: RequestMatch, { request, read, queries }: Parts): boolean {
  const { method: wanted } = match
  if (wanted !== undefined && ![wanted].flat().includes(request.method ?? '')) return false
  if (match.path !== undefined && !patternOf(match, match.path).matches(read)) return false
  for (const [name, value] of Object.entries(match.query ?? {}))
    if (!queries.every((parameters) => isOnly(parameters.getAll(name), value))) return false
  for (const [name, value] of Object.entries(match.headers ?? {})) {
    // some servers take `_` for `-`
    const names = new Set([name.toLowerCase(), name.toLowerCase().replaceAll('-', '_')])
    if (
      !isOnly(
        [...names].flatMap((one) => request.headersDistinct[one] ?? []),
        value,
      )
    )
      return false
  }
  return true
}

function isOnly(found: readonly string[], value: string): boolean {
  return found.length === 1 && found[0] === value
}

function patternOf(match: RequestMatch, path: string): PathPattern {
  const pattern = patterns.get(match) ?? new PathPattern(path)
  patterns.set(match, pattern)
  return pattern
}

import type { IncomingMessage } from 'node:http'

import type { RequestMatch, RequestRule } from './types.ts'

/** Bytes of a path that rules look at: to compare longer ones with patterns could take long. */
const longestPath = 2_048
/** How often a path is decoded: programs write it plainly, or encode it once. */
const mostDecodings = 4

/**
 * The rule for a request. `undefined`: none matches. `unclear`: its path could be read as another one. `long`: it is longer than
 * rules look at.
 */
export function ruleFor(
  request: IncomingMessage,
  rules: readonly RequestRule[],
): RequestRule | 'unclear' | 'long' | undefined {
  const { url = '' } = request
  const end = url.includes('?') ? url.indexOf('?') : url.length
  const [path, query] = [url.slice(0, end), url.slice(end + 1)]
  if (rules.some(({ match }) => match?.path !== undefined)) {
    // refused also where an earlier rule asks nothing of the path: no honest program writes it so
    if (path.length > longestPath) return 'long'
    if (!isClear(path)) return 'unclear'
  }
  return rules.find(({ match = {} }) => matches(match, { request, path, query }))
}

interface Parts {
  readonly request: IncomingMessage
  readonly path: string
  readonly query: string
}

function matches(match: RequestMatch, { request, path, query }: Parts): boolean {
  const { method: wanted } = match
  if (wanted !== undefined && ![wanted].flat().includes(request.method ?? '')) return false
  if (match.path !== undefined && !patternOf(match.path).test(path)) return false
  const parameters = new URLSearchParams(query)
  for (const [name, value] of Object.entries(match.query ?? {}))
    if (!isOnly(parameters.getAll(name), value)) return false
  for (const [name, value] of Object.entries(match.headers ?? {})) {
    if (!isOnly(request.headersDistinct[name.toLowerCase()] ?? [], value)) return false
  }
  return true
}

function isOnly(found: readonly string[], value: string): boolean {
  return found.length === 1 && found[0] === value
}

/** False for a path with `.` or `..`, in any of their spellings: a server may take it for another path. */
function isClear(path: string): boolean {
  let text = path
  for (let decodings = 0; decodings <= mostDecodings; decodings += 1) {
    if (text.split(/[/\\]/u).some((segment) => /^\.\.?(?:;.*)?$/u.test(segment))) return false
    const decoded = text.replaceAll(/%([\da-f]{2})/giu, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    if (decoded === text) return true
    text = decoded
  }
  return false
}

function patternOf(path: string): RegExp {
  const parts = path.split(/(\*\*|\*)/u).map((part) => {
    if (part === '**') return '.*'
    return part === '*' ? '[^/]*' : part.replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`)
  })
  return new RegExp(`^${parts.join('')}$`, 'su')
}

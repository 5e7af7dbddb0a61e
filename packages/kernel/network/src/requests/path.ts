/* eslint-disable no-control-regex -- control characters, which no path has, stand for the marks of a pattern here */
import { compileGlob, type Glob, isWorkspaceError } from '@ws/core'

/** Converts a path to one reading; the paths of rules are converted too. */
type Reading = (text: string) => string

export interface ReadPath {
  readonly text: string
  readonly steps: readonly Reading[]
}

/** Limit of readings of one path. Honest paths have one to four. */
const mostReadings = 32
/** These characters stand for an encoded `/`, `*`, `**`, and `/**` with an optional `/`. {@link decoded} removes them from text. */
const [slash, star, stars, below] = ['\u0001', '\u0002', '\u0003', '\u0004']
/** Replaces bytes that are invalid in paths. */
const bad = '\uFFFD'
const badBytes = Buffer.from(bad).toString('latin1')
const isEscape = /%(u[\da-f]{4}|[\da-f]{2})/giu
const isBadByte = /[\0-\u001F\u007F\\]/u
const isBad = /[\0-\u001F\u007F-\u009F\\\uFFFD]/u

/** Readings in which servers differ. Every combination is applied, in this order. */
const otherReadings: readonly Reading[] = [
  (text) => text.normalize('NFKC'),
  // for a path that a server in front has already decoded
  (text) => decoded(text).normalize('NFKC'),
  (text) => text.toLowerCase(),
  (text) => text.replaceAll(slash, '/'),
  // without the parameters of a segment
  (text) => text.replaceAll(/;[^/\u0001]*/gu, ''),
  // read as a URL after decoding
  (text) => text.replace(/[?#].*$/su, ''),
  (text) => text.replace(/^\/\/[^/]*/u, '') || '/',
  // as Windows reads names
  (text) =>
    text.replaceAll(/[\s.]+/gu, (run, at: number) => ('/\u0001'.includes(text[at + run.length] ?? '/') ? '' : run)),
  (text) => text.replaceAll(/\/+/gu, '/'),
  (text) => text.replace(/(?<=.)\/(\u0003?)$/u, (_, end: string) => (end === '' ? '' : below)),
]

/** All readings of a path, first the path as written. If no reading is safe: the reason, printed after "the path". */
export function readPath(path: string): readonly [ReadPath, ...ReadPath[]] | string {
  if (isBadByte.test(path)) return 'has a control character or `\\`'
  if (/%(?![\da-f]{2})/iu.test(path)) return 'has a `%` without two digits of an escape'
  const readings: [ReadPath, ...ReadPath[]] = [{ text: scoped(decoded(path, 'latin1')), steps: [] }]
  for (const other of otherReadings) {
    for (const { text, steps } of [...readings]) {
      const changed = other(text)
      if (changed !== text) readings.push({ text: changed, steps: [...steps, other] })
    }
    if (readings.length > mostReadings) return 'can be read in too many ways'
  }
  for (const { text } of readings) {
    const problem = problemOf(text)
    if (problem !== undefined) return problem
  }
  const twice = decoded(decoded(path, 'latin1'))
  return decoded(twice) === twice ? readings : 'is encoded more than twice'
}

function problemOf(text: string): string | undefined {
  if (isBad.test(text.replaceAll(slash, '/')))
    return 'has an escape of a control character, of `\\`, or of bytes that are not UTF-8'
  const dots = text.split(/[/\u0001]/u).some((segment) => segment.includes('.') && /^[\s.\p{Cf}]+$/u.test(segment))
  return dots ? 'has `.` or `..` in it' : undefined
}

/** True if some request can match this path of a rule. */
export function isPattern(path: string): boolean {
  const text = patternText(path)
  if (!/^\/[^?#\s]*$/u.test(path) || /%(?![\da-f]{2})/iu.test(path)) return false
  if (problemOf(text.replaceAll(star, 'x').replaceAll(stars, 'x')) !== undefined) return false
  try {
    compile(text)
    return true
  } catch (error) {
    if (isWorkspaceError(error, 'EINVAL')) return false
    throw error
  }
}

export class PathPattern {
  readonly #text: string
  readonly #globs = new Map<string, Glob>()

  constructor(path: string) {
    this.#text = patternText(path)
  }

  matches({ text, steps }: ReadPath): boolean {
    const pattern = steps.reduce((before, step) => step(before), this.#text)
    const glob = this.#globs.get(pattern) ?? compile(pattern)
    this.#globs.set(pattern, glob)
    return text.startsWith('/') && glob.matches(named(text))
  }
}

function patternText(path: string): string {
  const parts = path.split(/(\*\*|\*)/u)
  return scoped(parts.map((part) => (part === '**' ? stars : part === '*' ? star : decoded(part))).join(''))
}

/** In workspace globs `**` matches whole names, and no name is empty. So each name here begins with `=`. */
function compile(text: string): Glob {
  const plain = text.replaceAll(/[\\?*[\]{},!]/gu, String.raw`\$&`)
  const any = '{*,*/**/=*}'
  return compileGlob(named(plain).replaceAll(star, '*').replaceAll(stars, any).replaceAll(below, `{,/=${any}}`))
}

function named(text: string): string {
  return text.replaceAll('/', '/=')
}

/** Removes one layer of escapes. An encoded `/` stays distinct; invalid bytes become U+FFFD. */
function decoded(text: string, encoding: 'latin1' | 'utf8' = 'utf8'): string {
  const bytes = Buffer.from(text, encoding).toString('latin1')
  const plain = bytes.replaceAll(isEscape, (_, code: string) => {
    const byte = code.length === 2 ? Number.parseInt(code, 16) : 0
    if (byte === 0x2f) return slash
    return byte < 0x20 || byte === 0x5c || byte === 0x7f ? badBytes : String.fromCharCode(byte)
  })
  const left = Buffer.from(plain, 'latin1').toString('utf8')
  return left.replaceAll(/%[\da-f]{2}/giu, (escape) => escape.toLowerCase())
}

/** npm writes a scoped package as one segment, `@scope%2fname`; servers read two segments. */
function scoped(text: string): string {
  return text.replaceAll(/(?<=\/)(@[^/\u0001]+)\u0001(?=[^/\u0001]+(?:\/|$))/gu, '$1/')
}

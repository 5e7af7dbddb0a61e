import { anyDirectories } from './automaton.ts'
import type { GlobComponent } from './automaton.ts'
import { compileComponent } from './component.ts'
import type { Component } from './component.ts'
import { createMatcher } from './filter.ts'
import { onlyAscii } from './folds.ts'

/** The rules of one ignore file, for paths relative to its directory. */
export interface IgnoreRules {
  /** True: the last matching line ignores the entry. False: that line begins with `!`. `undefined`: no line matches. Check parents too. */
  judge(path: string, isDirectory: boolean): boolean | undefined
}

/** Maximum steps for each character of a name, like the cost of globs. Lines without wildcards cost nothing. */
const maxCost = 2000

/** Maximum bytes of a line. No path is longer. */
const longestLine = 4096

/** Character classes by name, only with ASCII members as in git. */
const classes: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  blank: ' \t',
  cntrl: '\u0001-\u001f\u007f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: ' \t-\r',
  upper: 'A-Z',
  xdigit: '0-9A-Fa-f',
}

/** Maps each byte to one character. Git and ripgrep compare bytes: `?` matches one of the two bytes of `é`. */
function asCharacters(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096))
  return text
}

const encoder = new TextEncoder()
const mark = '\u00ef\u00bb\u00bf'

/** Parses a `.gitignore` by the rules of git. Lines that git never matches have no effect. `undefined`: matching would take too long. */
export function parseIgnoreRules(bytes: Uint8Array): IgnoreRules | undefined {
  const text = asCharacters(bytes)
  const known = new Map<string, Component>()
  const lines: Line[] = []
  for (const given of (text.startsWith(mark) ? text.slice(mark.length) : text).split('\n')) {
    const line = parseLine(given, known)
    if (line !== undefined) lines.unshift(line)
  }
  let cost = 0
  for (const component of known.values()) cost += component.cost
  if (cost > maxCost) return undefined // @defence an ignore file of megabytes: of 10 MB
  // The last matching line decides, but the matcher returns the first match, so the lines are in reverse order.
  const forFiles = judgeBy(lines.filter(({ onlyDirectories }) => !onlyDirectories))
  const forDirectories = judgeBy(lines)
  return { judge: (path, isDirectory) => (isDirectory ? forDirectories : forFiles)(path) }
}

interface Line {
  readonly steps: readonly GlobComponent[]
  readonly ignores: boolean
  readonly onlyDirectories: boolean
}

function judgeBy(lines: readonly Line[]): (path: string) => boolean | undefined {
  const matcher = createMatcher(lines.map(({ steps }) => [steps]))
  return (path) => {
    const found = matcher.find(onlyAscii.test(path) ? path : asCharacters(encoder.encode(path)))
    return found === undefined ? undefined : lines[found]?.ignores
  }
}

function parseLine(given: string, known: Map<string, Component>): Line | undefined {
  if (given.startsWith('#') || given.length > longestLine) return undefined
  const line = withoutBlanks(given.endsWith('\r') ? given.slice(0, -1) : given)
  const ignores = !line.startsWith('!')
  const start = ignores ? 0 : 1
  const onlyDirectories = line.length > start && line.endsWith('/')
  const pattern = line.slice(start, onlyDirectories ? -1 : undefined)
  const names = pattern === '' || pattern.includes('\0') ? undefined : split(pattern)
  if (names === undefined) return undefined
  const isAnchored = pattern.includes('/')
  if (pattern.startsWith('/')) names.shift()
  const steps: GlobComponent[] = isAnchored ? [] : [anyDirectories]
  for (const name of names) {
    if (name === '') return undefined
    const isAny = isAnchored && /^\*{2,}$/u.test(name)
    const step = isAny ? anyDirectories : compile(name, known)
    if (step === undefined) return undefined
    if (step !== anyDirectories || steps.at(-1) !== anyDirectories) steps.push(step)
  }
  const everything = steps.at(-1) === anyDirectories ? compile('*', known) : undefined
  return { steps: everything === undefined ? steps : [...steps, everything], ignores, onlyDirectories }
}

/** Removes blanks at the end, except an escaped blank. */
function withoutBlanks(line: string): string {
  let end = line.length
  while (line[end - 1] === ' ') end -= 1
  if (end === line.length) return line
  let escapes = 0
  while (line[end - 1 - escapes] === '\\') escapes += 1
  return line.slice(0, escapes % 2 === 0 ? end : end + 1)
}

/** Splits a pattern at slashes, in the syntax of components. `undefined`: a class is unknown or not closed. */
function split(pattern: string): string[] | undefined {
  const names = ['']
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at] ?? ''
    let text = character
    if (character === '/' || (character === '\\' && pattern[at + 1] === '/')) {
      if (character === '\\') at += 1
      names.push('')
      continue
    }
    if (character === '\\') text += pattern[at + 1] ?? ''
    if (character === '[') {
      const found = readClass(pattern, at)
      if (found === undefined) return undefined
      text = found.text
      at = found.end
    } else at += text.length - 1
    names[names.length - 1] += text
  }
  return names
}

function readClass(pattern: string, start: number): { readonly text: string; readonly end: number } | undefined {
  const [negated = ''] = /^[!^]/u.exec(pattern.slice(start + 1, start + 2)) ?? []
  const member = /^(?:\[:([^\]]*):\]|(\\?[^])(?:-(?!\])(\\?[^]))?)/
  let text = ''
  let bracket = ''
  for (let at = start + 1 + negated.length; at < pattern.length; ) {
    if (pattern[at] === ']' && text + bracket !== '') return { text: `[${negated}${text}${bracket}]`, end: at }
    const [all = '', name, first = '', last] = member.exec(pattern.slice(at)) ?? []
    if (name === undefined ? first === '\\' || last === '\\' : !Object.hasOwn(classes, name)) return undefined
    // A range with a smaller end than start means only its first character.
    const isRange = last !== undefined && (first.at(-1) ?? '') <= (last.at(-1) ?? '')
    // Puts a `[` at the end of the class: `[.` would begin another kind of class.
    if (first === '[' && last === undefined) bracket = first
    else text += name === undefined ? (isRange ? `${first}-${last}` : first) : classes[name]
    at += all.length
  }
  return undefined
}

function compile(source: string, known: Map<string, Component>): Component | undefined {
  try {
    const component = known.get(source) ?? compileComponent(source, false, (reason) => new SyntaxError(reason))
    known.set(source, component)
    return component
  } catch (error) {
    // An escape at the end of the pattern.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

import type { Invocation } from '../../contract.ts'
import { readOperand, wordsOf } from '../../operands.ts'
import { decodeText } from '../../text.ts'
import { parseArguments } from '../../options.ts'
import { globExpression } from '../pattern.ts'
import { perlSource, posixSource } from '../posix.ts'

export const grepOptions = {
  flags: 'EFGPivcnwxlLoqshHrRaIy',
  valued: 'eABCmf',
  numeric: true,
  long: [
    'ignore-case',
    'invert-match',
    'count',
    'line-number',
    'color=?',
    'colour=?',
    'include=',
    'exclude=',
    'exclude-dir=',
    'extended-regexp',
    'fixed-strings',
    'perl-regexp',
    'only-matching',
    'recursive',
    'word-regexp',
    'line-regexp',
    'quiet',
    'silent',
    'no-messages',
    'no-filename',
    'with-filename',
    'files-with-matches',
    'files-without-match',
    'text',
    'regexp=',
    'file=',
    'max-count=',
    'after-context=',
    'before-context=',
    'context=',
  ],
}

const letters: Readonly<Record<string, string>> = {
  'ignore-case': 'i',
  'invert-match': 'v',
  count: 'c',
  'line-number': 'n',
  'extended-regexp': 'E',
  'fixed-strings': 'F',
  'perl-regexp': 'P',
  'only-matching': 'o',
  recursive: 'r',
  'word-regexp': 'w',
  'line-regexp': 'x',
  quiet: 'q',
  silent: 'q',
  'no-messages': 's',
  'no-filename': 'h',
  'with-filename': 'H',
  'files-with-matches': 'l',
  'files-without-match': 'L',
  text: 'a',
  regexp: 'e',
  file: 'f',
  'max-count': 'm',
  'after-context': 'A',
  'before-context': 'B',
  context: 'C',
}

export interface GrepOptions {
  readonly flags: ReadonlySet<string>
  readonly patterns: readonly RegExp[]
  readonly files: readonly string[]
  readonly before: number
  readonly after: number
  readonly most: number
  includes(name: string): boolean
  entersDirectory(name: string): boolean
}

/** @returns the options, or grep's own message for wrong arguments */
export async function grepOptionsOf(call: Invocation, preset: readonly string[]): Promise<GrepOptions | string> {
  const { options, operands } = parseArguments(grepOptions, call.given)
  const flags = new Set(preset)
  const texts: string[] = []
  const numbers = new Map<string, number>()
  const globs: { readonly kind: string; readonly glob: RegExp | undefined }[] = []
  let given = false
  for (const { name, value } of options) {
    const long = name.replace(/^--/, '')
    const letter = name.startsWith('--') ? (letters[long] ?? long) : name.slice(1)
    if (/^\d+$/.test(letter)) numbers.set('C', Number(letter))
    else if ('ABCm'.includes(letter)) {
      if (!/^\d+$/.test(value ?? ''))
        return `grep: ${value}: invalid ${letter === 'm' ? 'max count' : 'context length argument'}`
      numbers.set(letter, Number(value))
    } else if (letter === 'e' || letter === 'f') {
      given = true
      if (letter === 'e') texts.push(...(value ?? '').split('\n'))
      else {
        try {
          const lines = decodeText(Buffer.from(await readOperand(call, value ?? ''), 'latin1')).split('\n')
          if (lines.at(-1) === '') lines.pop()
          texts.push(...lines)
        } catch (error) {
          return `grep: ${value}: ${wordsOf(error)}`
        }
      }
    } else if (letter === 'color' || letter === 'colour') {
      if (value !== undefined && value !== 'auto' && value !== 'never')
        call.host.refuse(`grep --${letter}`, 'output has no colours here')
    } else if (/^(?:in|ex)clude/.test(letter)) {
      if (value?.includes('/') === true)
        call.host.refuse(`grep --${letter}`, 'give the name of a file, without slashes')
      globs.push({ kind: letter, glob: globExpression(value ?? '', false) })
    } else flags.add(letter === 'y' ? 'i' : letter)
  }
  const files = [...operands]
  if (!given) {
    const pattern = files.shift()
    if (pattern === undefined) return 'Usage: grep [OPTION]... PATTERNS [FILE]...'
    texts.push(...pattern.split('\n'))
  }
  const patterns = texts.map((text) => {
    const made = expressionOf(text, flags)
    if (made === undefined) return call.host.refuse('grep', `the pattern \`${text}\` has a part that is not known here`)
    return made
  })
  const around = numbers.get('C') ?? 0
  const named = (kind: string, name: string) => globs.some((one) => one.kind === kind && one.glob?.test(name) === true)
  const onlySome = globs.some(({ kind }) => kind === 'include')
  return {
    flags,
    patterns,
    files,
    before: numbers.get('B') ?? around,
    after: numbers.get('A') ?? around,
    most: numbers.get('m') ?? Infinity,
    includes: (name: string) => !named('exclude', name) && (!onlySome || named('include', name)),
    entersDirectory: (name: string) => !named('exclude-dir', name),
  }
}

function expressionOf(text: string, flags: ReadonlySet<string>): RegExp | undefined {
  const longest = flags.has('o')
  const source = flags.has('F')
    ? text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    : flags.has('P')
      ? perlSource(text)
      : posixSource(text, { extended: flags.has('E'), longest })
  if (source === undefined) return undefined
  const word = '[\\p{L}\\p{N}_]'
  if (flags.has('w') && longest && /[*+?{|]/.test(source)) return undefined
  const bounded = flags.has('x') ? `^(?:${source})$` : flags.has('w') ? `(?<!${word})(?:${source})(?!${word})` : source
  try {
    return new RegExp(bounded, `gu${flags.has('P') ? 's' : ''}${flags.has('i') ? 'i' : ''}`)
  } catch {
    return undefined // JavaScript cannot express the pattern: the caller searches in another way
  }
}

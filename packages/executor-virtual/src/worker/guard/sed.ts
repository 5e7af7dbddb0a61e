import { posixSource } from '../tools/posix.ts'
import type { Arguments } from './arguments.ts'
import type { CommandRule } from './rule.ts'

export const sedRule: CommandRule = {
  flags: 'nrEi',
  valued: 'e',
  long: ['regexp-extended', 'quiet'],
  refuse: (call) => refuseScripts(call),
}

function refuseScripts({ options, operands }: Arguments): string | undefined {
  const given = options.filter(({ name }) => name === '-e').map(({ value = '' }) => value)
  const scripts = given.length > 0 ? given : operands.slice(0, 1)
  if (scripts.length === 0) return 'there is no script'
  const extended = options.some(({ name }) => ['-r', '-E', '--regexp-extended'].includes(name))
  return refuseScript(scripts.join('\n'), extended)
}

/** The commands that just-bash carries out as GNU's sed does, with their addresses and flags; the first other part is told. */
function refuseScript(script: string, extended: boolean): string | undefined {
  let rest = script
  while (rest !== '') {
    rest = rest.replace(/^[\s;{}]+/, '')
    if (rest === '') return undefined
    const afterAddress = skipAddresses(rest, extended)
    if (typeof afterAddress === 'object') return afterAddress.reason
    rest = afterAddress.replace(/^\s*!?\s*/, '')
    const letter = rest[0] ?? ''
    rest = rest.slice(1)
    if ('pdq=nNGgHhxP'.includes(letter) && letter !== '') {
      if (!/^\s*(?:[;}\n]|$)/.test(rest)) return `\`${letter}${rest.slice(0, 10)}\``
    } else if (letter === '{' || letter === '}') continue
    else if (letter === 's' || letter === 'y') {
      const after = letter === 's' ? skipSubstitution(rest, extended) : skipTransliteration(rest)
      if (typeof after === 'object') return after.reason
      rest = after
    } else if ('aic'.includes(letter) && letter !== '') {
      const [text] = rest.split('\n', 1)
      if (text === undefined || !/^ ?[^\s\\}][^\\]*$/.test(text))
        return `\`${letter}\` with a backslash or without a text`
      rest = rest.slice(text.length)
    } else if (':bt'.includes(letter) && letter !== '') {
      const label = /^\s*([A-Za-z0-9_]*)\s*(?=[;}\n]|$)/.exec(rest)
      if (label === null || (letter === ':' && label[1] === '')) return `\`${letter}${rest.slice(0, 10)}\``
      rest = rest.slice(label[0].length)
    } else return `the command \`${letter}\``
  }
  return undefined
}

type Skipped = string | { readonly reason: string }

function skipAddresses(text: string, extended: boolean): Skipped {
  const first = skipAddress(text, extended)
  if (typeof first === 'object') return first
  if (first === text || !/^\s*,/.test(first)) return first
  const second = first.replace(/^\s*,\s*/, '')
  if (text.startsWith('0,')) return { reason: 'the address 0' }
  const after = skipAddress(second, extended)
  return after === second ? { reason: 'an address behind the comma' } : after
}

function skipAddress(text: string, extended: boolean): Skipped {
  const [number] = /^(?:\d+~\d+|\d+|\$)/.exec(text) ?? []
  if (number !== undefined) return text.slice(number.length)
  if (!text.startsWith('/'))
    return text.startsWith('\\') || text.startsWith('+') || text.startsWith('~')
      ? { reason: 'this kind of address' }
      : text
  const end = endOf(text, 1, '/')
  if (end === -1) return { reason: 'a regular expression that is not closed' }
  const reason = refusePattern(text.slice(1, end), extended, false)
  if (reason !== undefined) return { reason }
  const after = text.slice(end + 1)
  return /^[IM]/.test(after) ? { reason: 'flags of an address' } : after
}

/** The next delimiter that is not escaped and not in a bracket expression; -1 for none. */
function endOf(text: string, from: number, delimiter: string): number {
  let inside = false
  for (let index = from; index < text.length; index++) {
    const character = text[index]
    if (character === '\\' && !inside) index++
    else if (character === delimiter && !inside) return index
    else if (character === '\n' && delimiter !== '\n') return -1
    else if (character === '[' && !inside) {
      inside = true
      // The first character of a bracket expression is a member, also where it is `]`.
      if (text[index + 1] === '^') index++
      if (text[index + 1] === ']') index++
    } else if (character === ']' && inside) inside = false
  }
  return -1
}

function skipSubstitution(text: string, extended: boolean): Skipped {
  const delimiter = text[0] ?? ''
  if (!/^[/|,#@:_!%]$/.test(delimiter)) return { reason: `\`${delimiter}\` around the parts of \`s\`` }
  const middle = endOf(text, 1, delimiter)
  if (middle === -1) return { reason: 'an `s` that is not closed' }
  const end = replacementEnd(text, middle + 1, delimiter)
  if (end === -1) return { reason: 'an `s` that is not closed' }
  const pattern = text.slice(1, middle)
  const escaped = delimiter === '/' ? pattern : pattern.replaceAll(`\\${delimiter}`, delimiter)
  const reason = refusePattern(escaped, extended, true)
  if (reason !== undefined) return { reason }
  const replacement = text.slice(middle + 1, end)
  if (/\\[^&\\/|,#@:_!%n1-9."'$*[\]()^ t-]/.test(replacement) || /\\\n/.test(replacement))
    return { reason: `the replacement \`${replacement}\`` }
  const [flags = ''] = /^[a-zA-Z0-9]*/.exec(text.slice(end + 1)) ?? []
  if (!/^(?:[gpIi]*|[1-9]p?|p?[1-9])$/.test(flags)) return { reason: `the flags \`${flags}\` of \`s\`` }
  const after = text.slice(end + 1 + flags.length)
  return /^\s*(?:[;}\n]|$)/.test(after) ? after : { reason: `\`${after.slice(0, 10)}\` behind \`s\`` }
}

function replacementEnd(text: string, from: number, delimiter: string): number {
  for (let index = from; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === delimiter) return index
  }
  return -1
}

function skipTransliteration(text: string): Skipped {
  const [whole] = /^\/[^\\/\n]*\/[^\\/\n]*\/\s*(?=[;}\n]|$)/.exec(text) ?? []
  return whole === undefined ? { reason: 'a `y` with a backslash, or not closed' } : text.slice(whole.length)
}

function refusePattern(pattern: string, extended: boolean, longest: boolean): string | undefined {
  // An empty one stands for the last one; `\n`, `\t` and `\/` mean themselves.
  if (pattern === '') return longest ? undefined : 'an empty regular expression as an address'
  const plain = pattern.replace(/\\[ntr/]/g, 'x')
  return posixSource(plain, { extended, longest }) === undefined ? `the regular expression \`${pattern}\`` : undefined
}

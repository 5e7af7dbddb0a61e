import { decodeText, hasForeignBytes } from '@ws/shell-tools/files'
import type { ExecResult } from 'just-bash'

import type { Interpreter } from '../state/interpreter.ts'
import { sessionOf } from '../state/shell.ts'

// just-bash's `read` and `mapfile` treat bytes as characters, and `read` ignores that a backslash quotes a character.
// This file corrects the variables that both commands set.

function optionsOf(given: readonly string[], valued: string) {
  const options = new Map<string, string>()
  const names = [...given]
  while (/^-./.test(names[0] ?? '')) {
    const letters = [...(names.shift() ?? '').slice(1)]
    if (letters.join('') === '-') break
    for (let letter = letters.shift(); letter !== undefined; letter = letters.shift())
      options.set(letter, valued.includes(letter) ? letters.splice(0).join('') || (names.shift() ?? '') : '')
  }
  return { options, names }
}

/** Splits the input of `read` a second time, by bash's rules. */
function splitInput(self: Interpreter, given: readonly string[], input: string): void {
  const { state } = self.ctx
  const { options, names } = optionsOf(given, 'dnNptuia')
  const decoded = (text = '') => decode(self, 'read', text, options.has('n') || options.has('N'))
  if (options.has('u') || options.has('N') || options.has('t')) {
    for (const name of names) state.env.set(name, decoded(state.env.get(name)))
    return
  }
  const line = lineOf(input, options.has('r'), options.get('d') ?? '\n', Number(options.get('n') ?? Infinity))
  const ifs = state.env.get('IFS') ?? ' \t\n'
  if (/[^\0-\x7f]/.test(ifs)) sessionOf(self).refuse('IFS', 'a character in it that is not of ASCII')
  const array = options.get('a')
  const elements = array === undefined ? undefined : state.arrays?.get(array)?.elements
  elements?.clear()
  if (elements !== undefined)
    for (const [index, field] of fieldsOf(line, ifs, Infinity).entries()) elements.set(String(index), decoded(field))
  else if (names.length === 0) state.env.set('REPLY', decoded(line[0]))
  else {
    const fields = fieldsOf(line, ifs, names.length)
    for (const [index, name] of names.entries()) state.env.set(name, decoded(fields[index]))
  }
}

/** A line, and the positions of its characters that follow a backslash. */
type Line = readonly [text: string, quoted: ReadonlySet<number>]

function lineOf(input: string, isRaw: boolean, delimiter: string, most: number): Line {
  const quoted = new Set<number>()
  let text = ''
  for (let at = 0; at < input.length && text.length < most; at++) {
    if (input[at] === (delimiter[0] ?? '\0')) break
    if (!isRaw && input[at] === '\\') {
      at++
      if (at === input.length || input[at] === '\n') continue
      quoted.add(text.length)
    }
    text += input.charAt(at)
  }
  return [text, quoted]
}

/** Splits a line into fields. The last field contains the rest of the line. */
function fieldsOf([text, quoted]: Line, ifs: string, most: number): string[] {
  const blanks = ifs.replace(/[^ \t\n]/g, '')
  const isIn = (signs: string, at: number) => at < text.length && signs.includes(text.charAt(at)) && !quoted.has(at)
  const skip = (from: number) => {
    let at = from
    while (isIn(blanks, at)) at++
    return at
  }
  const fields: string[] = []
  for (let at = skip(0); at < text.length; ) {
    let end = at
    while (end < text.length && !isIn(ifs, end)) end++
    let next = skip(end)
    if (isIn(ifs, next)) next = skip(next + 1)
    if (fields.length === most - 1 && next < text.length) {
      // bash also drops a quoted blank at the end of the line.
      for (end = text.length; end > at && blanks.includes(text.charAt(end - 1)); ) end--
      next = text.length
    }
    fields.push(text.slice(at, end))
    at = next
  }
  return fields
}

function decode(self: Interpreter, name: string, text: string, counts = false): string {
  if (!/[\x80-\xff]/.test(text) || /[^\0-\xff]/.test(text)) return text
  const decoded = decodeText(Buffer.from(text, 'latin1'))
  // For text that is not ASCII, bash itself reads beyond the end of the line.
  if (counts) sessionOf(self).refuse('read -n', 'of text that is not ASCII')
  if (hasForeignBytes(decoded)) sessionOf(self).refuse(name, 'the input is not UTF-8')
  return decoded
}

export async function readInput(
  self: Interpreter,
  name: string,
  given: readonly string[],
  stdin: string,
  run: (given: readonly string[]) => Promise<ExecResult>,
): Promise<ExecResult> {
  const element = optionsOf(given, 'dnNptuiaOsCc').names.find((word) => word.includes('['))
  if (element !== undefined)
    sessionOf(self).refuse(`${name} ${element}`, 'an element of a list; read a variable, and assign its value')
  const input = stdin || (self.ctx.state.groupStdin ?? '')
  // just-bash does not accept combined option letters of `mapfile`.
  const words =
    name === 'read'
      ? given
      : given.flatMap((word) => (/^-[a-zA-Z]{2,}$/.test(word) ? [...word.slice(1)].map((one) => `-${one}`) : [word]))
  const result = await run(words)
  if (result.stderr !== '' || result.exitCode > 1) return result
  if (name === 'read') splitInput(self, given, input)
  else {
    const [array = 'MAPFILE'] = optionsOf(given, 'dnOsuCc').names
    const elements = self.ctx.state.arrays?.get(array)?.elements ?? new Map<string, string>()
    for (const [key, text] of elements) elements.set(key, decode(self, name, text))
  }
  return result
}

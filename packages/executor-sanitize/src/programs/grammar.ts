import { refuse } from '../refusal.ts'
import { type Argument, type Invocation, textOf } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import type { Mode } from '../invocation/path-words.ts'

/** The kind of an option's value: text, a path, or refused. `attached`: text, only in the same word. */
type ValueKind = 'text' | 'attached' | 'refused' | Mode

/** The arguments of a call, sorted into options, values and operands. */
export interface Parsed {
  /** Options as given, long or short: `-r`, `--recursive`. */
  readonly options: ReadonlySet<string>
  readonly values: ReadonlyMap<string, readonly Argument[]>
  readonly operands: readonly Argument[]
}

export interface Grammar {
  /**
   * Options with a value, and those that are refused: `-n:` text, `-f=read` a path, `-i~` text in the same word or none,
   * `-x!` refused. Options that are not named take no value.
   */
  readonly options?: string | undefined
  /** The kind of the operands, or a function that looks at them. */
  readonly operands: Mode | 'text' | ((call: Invocation, parsed: Parsed) => Partial<Outcome> | void)
  /** Whether its output names its operands; `absolute`: it prints whole paths for every operand. Default `always`. */
  readonly prints?:
    | 'never'
    | 'always'
    | 'absolute'
    | 'several'
    | ((parsed: Parsed, call: Invocation) => boolean)
    | undefined
  /** Options with which it follows links that it finds below its operands. */
  readonly follows?: readonly string[] | undefined
  /** Options with which it goes through directories. */
  readonly recursive?: readonly string[] | undefined
  /** Its standard input may hold paths of this machine: it hands lines on as they are. */
  readonly passes?: boolean | ((parsed: Parsed) => boolean) | undefined
}

const specifications = new Map<string, ReadonlyMap<string, ValueKind>>()

function specificationOf(text: string): ReadonlyMap<string, ValueKind> {
  const known = specifications.get(text)
  if (known !== undefined) return known
  const made = new Map<string, ValueKind>()
  for (const token of text.split(/\s+/).filter(Boolean)) {
    const match = /^(-{1,2}[^:=!~]+)([:!~]|=(\w+))$/.exec(token)
    if (match === null) throw new Error(`bad option \`${token}\``)
    const [, name = '', mark = '', mode] = match
    const kind = mark === ':' ? 'text' : mark === '!' ? 'refused' : mark === '~' ? 'attached' : (mode as Mode)
    made.set(name, kind)
  }
  specifications.set(text, made)
  return made
}

/** Tells options, their values and operands apart as `getopt` does, and judges the values. */
export function parseArguments(call: Invocation, options = '', { textOnly = false } = {}): Parsed {
  const specification = specificationOf(options)
  const given = new Set<string>()
  const values = new Map<string, Argument[]>()
  const operands: Argument[] = []
  const keep = (name: string, argument: Argument) => values.set(name, [...(values.get(name) ?? []), argument])
  for (let index = 0; index < call.args.length; index++) {
    const argument = call.args[index]
    if (argument === undefined) break
    const { value, word } = argument
    if (textOf(argument) === '--') {
      operands.push(...call.args.slice(index + 1))
      break
    }
    if (value.text === undefined) {
      const hint = value.placed
        ? 'start it with `find DIRECTORY … -exec`'
        : 'write it out, or put `--` before it if it is not a path'
      if (!textOnly) refuse('unknown', word.text, hint)
      operands.push(argument)
      continue
    }
    if (value.host || value.text === '-' || !value.text.startsWith('-')) {
      operands.push(argument)
      continue
    }
    const text = textOf(argument)
    if (text === undefined) {
      if (textOnly) operands.push(argument)
      else refuse('option', word.text)
      continue
    }
    index += takeOption(text, argument, call.args[index + 1])
  }
  return { options: given, values, operands }

  function takeOption(text: string, argument: Argument, next: Argument | undefined): number {
    if (text.startsWith('--')) return takeLong(text, argument, next)
    for (let at = 1; at < text.length; at++) {
      const name = `-${text[at]}`
      const kind = specification.get(name)
      given.add(name)
      if (kind === undefined) continue
      if (kind === 'refused') refuse('option', argument.word.text)
      if (at + 1 < text.length || kind === 'attached') {
        judge(name, kind, argument, at + 1)
        return 0
      }
      if (next === undefined) return 0
      judge(name, kind, next, 0)
      return 1
    }
    return 0
  }

  function takeLong(text: string, argument: Argument, next: Argument | undefined): number {
    const equals = text.indexOf('=')
    const name = equals < 0 ? text : text.slice(0, equals)
    // An abbreviation means the option, as in `getopt_long`. An ambiguous abbreviation is judged as the first match.
    const full = specification.has(name)
      ? name
      : ([...specification.keys()].find((key) => key.startsWith(name)) ?? name)
    const kind = specification.get(full)
    given.add(full)
    if (kind === 'refused') refuse('option', argument.word.text)
    if (kind === undefined) {
      const rest = equals < 0 ? '' : text.slice(equals + 1)
      if (rest.startsWith('/') || /(?:^|\/)\.\.(?:\/|$)/.test(rest)) refuse('option', argument.word.text)
      return 0
    }
    if (equals >= 0) {
      judge(full, kind, argument, equals + 1)
      return 0
    }
    if (kind === 'attached' || next === undefined) return 0
    judge(full, kind, next, 0)
    return 1
  }

  function judge(name: string, kind: ValueKind, argument: Argument, from: number): void {
    keep(name, argument)
    if (kind === 'text' || kind === 'attached') call.text(argument)
    else if (kind !== 'refused' && from === 0) call.path(argument, kind)
    else if (kind !== 'refused') call.attached(argument, from, kind)
  }
}

/** True for an option that was given, also as an abbreviation of a long one. */
export function has({ options }: Pick<Parsed, 'options'>, ...names: readonly string[]): boolean {
  return names.some((name) => options.has(name) || [...options].some((own) => /^--./.test(own) && name.startsWith(own)))
}

/** Judges a call by a grammar. */
export function runGrammar(call: Invocation, grammar: Grammar): Outcome {
  const parsed = parseArguments(call, grammar.options, { textOnly: grammar.operands === 'text' })
  const { operands } = parsed
  const passes = typeof grammar.passes === 'function' ? grammar.passes(parsed) : (grammar.passes ?? false)
  if (call.context.tainted && !passes && grammar.operands !== 'text') {
    refuse('shown', call.written)
  }
  let more: Partial<Outcome> = {}
  if (typeof grammar.operands === 'function') more = grammar.operands(call, parsed) ?? {}
  else if (grammar.operands === 'text') for (const operand of operands) call.text(operand)
  else for (const operand of operands) call.path(operand, grammar.operands)
  const follows = has(parsed, ...(grammar.follows ?? []))
  const recursive = has(parsed, ...(grammar.recursive ?? []))
  if (follows || recursive) for (const operand of operands) call.tree(operand, { links: follows })
  const passed = call.context.tainted && passes
  const absolute = grammar.prints === 'absolute'
  return call.done({
    prints: call.tainted || passed || absolute || (call.hosts && shows(grammar, parsed, call)),
    ...more,
  })
}

function shows({ prints = 'always' }: Grammar, parsed: Parsed, call: Invocation): boolean {
  if (typeof prints === 'function') return prints(parsed, call)
  const single = parsed.operands.length < 2 && !parsed.operands.some(({ value }) => value.glob || value.brace)
  return prints === 'always' || (prints === 'several' && (!single || has(parsed, '-v', '--verbose')))
}

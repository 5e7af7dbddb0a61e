import { type Argument, type Invocation, knownText } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import type { Mode } from '../invocation/path-words.ts'

/** The value of an option: none, text, or a path. `attached`: optional text in the same word. */
type ValueKind = 'none' | 'text' | 'attached' | Mode

interface Option {
  readonly name: string
  readonly kind: ValueKind
}

interface OptionValue {
  readonly argument: Argument
  /** The option's value; `undefined` if only the shell knows it. */
  readonly text: string | undefined
}

/** Parsed arguments. Each option has its first name. */
export interface Parsed {
  readonly options: ReadonlySet<string>
  readonly values: ReadonlyMap<string, readonly OptionValue[]>
  readonly operands: readonly Argument[]
}

export interface Grammar {
  /**
   * `r|recursive` has no value, `n|lines:` a text, `f|file=read` a path, `i|in-place~` an optional text in the same word.
   * `#` is a number such as `-5`. All other options are refused.
   */
  readonly options: string
  /** How the program uses its operands, or a function that checks them. */
  readonly operands: Mode | ((call: Invocation, parsed: Parsed) => Partial<Outcome> | void)
  /** Whether the program's output contains its operands. `several`: only if there are several operands. Default: always. */
  readonly prints?: 'never' | 'several' | ((parsed: Parsed, call: Invocation) => boolean) | undefined
  /** Options that make the program walk directories. `follows`: options that make it follow links during the walk. */
  readonly recursive?: readonly string[] | undefined
  readonly follows?: readonly string[] | undefined
  /** True if the program outputs lines of its input unchanged, so that the output may contain host paths. */
  readonly passes?: boolean | ((parsed: Parsed) => boolean) | undefined
}

const specifications = new Map<string, ReadonlyMap<string, Option>>()

function specificationOf(text: string): ReadonlyMap<string, Option> {
  const known = specifications.get(text)
  if (known !== undefined) return known
  const made = new Map<string, Option>()
  for (const token of text.split(/\s+/).filter(Boolean)) {
    const [, names = '', mark = '', mode] = /^([^:=~]+)([:~]|=(\w+))?$/.exec(token) ?? []
    const kind = mark === '' ? 'none' : mark === ':' ? 'text' : mark === '~' ? 'attached' : (mode as Mode)
    const [name = '', ...others] = names.split('|')
    for (const one of [name, ...others]) made.set(one.length === 1 ? `-${one}` : `--${one}`, { name, kind })
  }
  specifications.set(text, made)
  return made
}

/** Separates options, values and operands as `getopt` does, and checks the values. */
function parseArguments(call: Invocation, specification: ReadonlyMap<string, Option>): Parsed {
  const options = new Set<string>()
  const values = new Map<string, OptionValue[]>()
  const operands: Argument[] = []
  for (let index = 0; index < call.args.length; index++) {
    const argument = call.args[index]
    if (argument === undefined) break
    const { value } = argument
    if (knownText(argument) === '--') {
      operands.push(...call.args.slice(index + 1))
      break
    }
    if (value.text === undefined)
      return call.refuse('unknown', argument, 'write it out, or put `--` before it if it is not a path')
    if (value.host || value.text === '-' || !value.text.startsWith('-')) {
      operands.push(argument)
      continue
    }
    const text = knownText(argument) ?? call.refuse('option', argument)
    if (/^-\d+$/.test(text) && specification.has('-#')) continue
    if (takeOption(text, argument, call.args[index + 1])) index++
  }
  return { options, values, operands }

  function takeOption(text: string, argument: Argument, next: Argument | undefined): boolean {
    const long = /^(--[^=]+)(=?)/.exec(text)
    for (let at = 1; at < text.length; at++) {
      // Refuses an abbreviated option, since it can be ambiguous.
      const option = specification.get(long?.[1] ?? `-${text[at]}`) ?? call.refuse('option', argument)
      const { name, kind } = option
      options.add(name)
      const end = long === null ? at + 1 : long[0].length
      const inWord = long === null ? end < text.length : long[2] === '='
      if (kind === 'none' && long !== null) return inWord ? call.refuse('option', argument) : false
      if (kind === 'none') continue
      if (inWord || kind === 'attached') {
        judge(option, argument, end)
        return false
      }
      if (next === undefined) return false
      judge(option, next, 0)
      return true
    }
    return false
  }

  function judge({ name, kind }: Option, argument: Argument, from: number): void {
    values.set(name, [...(values.get(name) ?? []), { argument, text: knownText(argument)?.slice(from) }])
    if (kind === 'text' || kind === 'attached' || kind === 'none') call.text(argument)
    else if (from === 0) call.path(argument, kind)
    else call.attached(argument, from, kind)
  }
}

export function has({ options }: Pick<Parsed, 'options'>, ...names: readonly string[]): boolean {
  return names.some((name) => options.has(name))
}

export function runGrammar(call: Invocation, grammar: Grammar): Outcome {
  const parsed = parseArguments(call, specificationOf(grammar.options))
  const { operands } = parsed
  const { passes = false } = grammar
  const { tainted } = call.context
  if (tainted && !(typeof passes === 'function' ? passes(parsed) : passes)) call.refuse('shown')
  let more: Partial<Outcome> = {}
  if (typeof grammar.operands === 'function') more = grammar.operands(call, parsed) ?? {}
  else for (const operand of operands) call.path(operand, grammar.operands)
  const links = has(parsed, ...(grammar.follows ?? []))
  if (links || has(parsed, ...(grammar.recursive ?? []))) for (const operand of operands) call.tree(operand, { links })
  return call.done({ prints: call.tainted || tainted || (call.hosts && shows(grammar, parsed, call)), ...more })
}

function shows({ prints }: Grammar, parsed: Parsed, call: Invocation): boolean {
  if (typeof prints === 'function') return prints(parsed, call)
  const several = parsed.operands.length > 1 || parsed.operands.some(({ value }) => value.glob)
  return prints === undefined || (prints === 'several' && (several || has(parsed, 'v')))
}

import type { Problem } from './checked.ts'
import { literal, type Node, type Part, type SimpleCommand, type Word } from './nodes.ts'

/** Variables that bash sets and just-bash leaves empty. */
const unset = new Set(
  'BASH BASHPID BASH_COMMAND BASH_SUBSHELL BASH_VERSINFO DIRSTACK EPOCHREALTIME EPOCHSECONDS GROUPS HISTCMD PS4 SHLVL SRANDOM'.split(
    ' ',
  ),
)

interface Expansion {
  readonly type: string
  readonly parameter?: string
  readonly pattern?: string
  readonly sourceText?: string
  readonly operation?: {
    readonly type: string
    readonly all?: boolean
    readonly operator?: string
    readonly star?: boolean
    readonly word?: Word
  } | null
  readonly items?: readonly { readonly word?: Word }[]
}

/** The first thing in which just-bash differs from bash, and that cannot be rewritten. */
export function unlikeBash(node: Node): Problem | undefined {
  const { type, parameter = '', operation, items, pattern = '', sourceText } = node as unknown as Expansion
  if (type === 'ParameterExpansion') {
    const [name = ''] = parameter.split('[')
    if (unset.has(name)) return { subject: `$${name}`, reason: 'it is not known here' }
    if (operation?.type === 'CaseModification' && operation.all === false && /^[@*]$|\[[@*]\]$/.test(parameter))
      return { subject: '${…[@]^}', reason: 'of several words only the first would change; use a loop' }
    if (operation?.type === 'Transform' && operation.operator === 'Q')
      return { subject: '${…@Q}', reason: 'it quotes in another way than bash; use printf %q' }
  }
  if (type === 'Word' && keepsEmpty(node as unknown as Word))
    return { subject: '${…[@]%…}', reason: 'without quotes, empty words would stay; write it in quotes' }
  if (type === 'Glob' && /[?*+@!]\(/.test(pattern) && /(["'])[^"']*[()][^"']*\1|\\[()]/.test(pattern))
    return quotedInGroup
  // just-bash ends the group at such a parenthesis.
  if (type === 'Statement' && quotedParenthesis.test(`${sourceText}`) && groupInTree.test(JSON.stringify(node)))
    return quotedInGroup
  if (type === 'Statement' && negatedWord.test(`${sourceText}`.replace(/'[^']*'|"(?:[^"\\]|\\.)*"/gs, '"')))
    return { subject: '[[ !… ]]', reason: 'without a blank after `!` it is a part of the word; put one there' }
  if (type === 'BraceExpansion' && items?.some(({ word }) => word?.parts.some(isTorn) === true) === true)
    return { subject: '{…}', reason: 'a quote or a backslash in braces; write the words out' }
  if (
    node.type === 'Statement' &&
    quotedComma.test(node.sourceText ?? '') &&
    JSON.stringify(node).includes('"BraceExpansion"')
  )
    return { subject: '{…}', reason: 'a quoted comma in braces; write the words out' }
  if (node.type === 'For' && node.words?.some(joinsList) === true) return joined
  if (node.type !== 'SimpleCommand') return undefined
  // `echo` puts blanks between words anyway.
  if (literal(node.name) !== 'echo' && node.args.some(joinsList)) return joined
  if (
    !/^(?::|true|local|declare|typeset|export|readonly)$/.test(literal(node.name) ?? '') &&
    node.args.some(assignsQuoted)
  )
    return { subject: '${…-"…"}', reason: 'without quotes around, the value may be split into words; quote the whole' }
  if (node.assignments?.some(({ value, array }) => array?.some(joinsList) === true || trimsList(value)) === true)
    return joined
  if (node.assignments?.some(({ array }) => array?.some(hasComputedKey) === true) === true)
    return { subject: 'name=([…]=…)', reason: 'a key is not expanded there; use name[…]=…' }
  return unlikeBuiltin(node)
}

const joined: Problem = {
  subject: '"…${…[@]…}…"',
  reason: 'of a list beside other text, or in an assignment; put the list into an array',
}

const isList = (part: Part) => {
  const { parameter = '', operation } = part as unknown as Expansion
  return (
    part.type === 'ParameterExpansion' &&
    (/\[[@*]\]$/.test(parameter)
      ? operation?.type === 'Substring'
      : operation?.type === 'ArrayKeys' && operation.star === false)
  )
}

/** True for `"a${l[@]:1}"` and `"a${!l[@]}"`, which just-bash takes for one word. */
function joinsList({ parts }: Word): boolean {
  return parts.some(({ type, parts: inner = [] }) => type === 'DoubleQuoted' && inner.length > 1 && inner.some(isList))
}

/** True for `x="${l[@]%a}"`, where just-bash takes the list for one text. */
function trimsList(value: Word | null | undefined): boolean {
  return (value?.parts ?? []).some((part) => {
    const { parameter = '', operation } = part as unknown as Expansion
    if (part.type === 'DoubleQuoted') return trimsList({ type: 'Word', parts: part.parts ?? [] })
    return /^[@*]$|\[[@*]\]$/.test(parameter) && operation?.type.startsWith('Pattern') === true
  })
}

/** True for `${x="a b"}` and `${x-"a b"}` without quotes around: just-bash does not split the value of `x` either. */
function assignsQuoted({ parts }: Word): boolean {
  return parts.some((part) => {
    const { operation, parameter } = part as unknown as Expansion
    const [only, ...others] = operation?.word?.parts ?? []
    if (operation?.type === 'UseAlternative' && only?.type === 'DoubleQuoted' && others.length === 0) {
      const names = (only.parts ?? []).map((one) => (one as unknown as Expansion).parameter ?? '')
      // A list would be one word, and an empty word would be lost.
      return names.some((name) => /^@$|\[@\]$/.test(name)) || names.every((name) => name !== '' && name !== parameter)
    }
    if (!/^(?:AssignDefault|DefaultValue)$/.test(operation?.type ?? '')) return false
    return (
      operation?.word?.parts.some(
        (one) => one.type.endsWith('Quoted') && !/^[\w.,:/@%+=-]+$/.test(textOf({ type: 'Word', parts: [one] })),
      ) === true
    )
  })
}

const quotedInGroup: Problem = {
  subject: '@(…)',
  reason: 'a quoted parenthesis in a group; put it into a variable',
}
const negatedWord = /\[\[(?:(?!\]\])[^])*[\s(]!(?![\s=(])/
const quotedParenthesis = /[?*+@!]\((?:[^()'"]|'[^'()]*'|"[^"()]*")*(?:'[^'()]*[()]|"[^"()]*[()])/
const groupInTree = /"pattern":"[^"]*[?*+@!]\(/

const quotedComma = /\{[^{}]*(["'])[^"'{}]*,[^"'{}]*\1[^{}]*\}/

/** A word such as `[$k]=v`, or the begin of `[1 + 1]=v`. */
function hasComputedKey({ parts }: Word): boolean {
  const [first, ...others] = parts.map(({ value, pattern }) => value ?? (typeof pattern === 'string' ? pattern : ''))
  if (first?.startsWith('[') !== true || first + others.join('') === '[') return false
  const isOpen = first.split('[').length > [first, ...others].join('').split(']').length
  return isOpen || others.some((text) => text.startsWith(']='))
}

/** just-bash takes a comma for a separator that is quoted within braces. */
function isTorn({ type, value = '' }: Part): boolean {
  return type === 'Literal' && /['"]|\\$/.test(value)
}

function unlikeBuiltin(node: SimpleCommand): Problem | undefined {
  const name = literal(node.name)
  const words = node.args.map(textOf)
  const option = (letters: RegExp) => words.find((word) => letters.test(word))
  switch (name) {
    case 'help':
      return { subject: name, reason: 'its texts are others here' }
    case 'set': {
      const [first = ''] = words
      if (words.length === 1 && /^[-+]o$/.test(first))
        return { subject: `set ${first}`, reason: 'it shows other options' }
      return option(/^-[a-zA-Z]*v/) === undefined
        ? undefined
        : { subject: 'set -v', reason: 'it prints in another way' }
    }
    case 'shopt':
      return option(/^-[a-z]*[suq]/) === undefined
        ? { subject: name, reason: 'it shows options in another form; use shopt -q' }
        : undefined
    case 'mapfile':
    case 'readarray': {
      const odd = option(/^-[a-zA-Z]*[cC]|^-[a-zA-Z]*d./)
      return odd === undefined ? undefined : { subject: `${name} ${odd}`, reason: 'use a loop' }
    }
    default:
      return undefined
  }
}

/** Elements that become empty stay as empty words, which bash drops. */
function keepsEmpty(word: Word): boolean {
  const parts: readonly Part[] | undefined = word.parts
  // A word within braces is of another shape.
  return (parts ?? []).some((part) => {
    const { type, parameter = '', operation } = part as unknown as Expansion
    return (
      type === 'ParameterExpansion' &&
      /^[@*]$|\[[@*]\]$/.test(parameter) &&
      ['PatternRemoval', 'PatternReplacement'].includes(operation?.type ?? '')
    )
  })
}

/** Writes that do not reach a variable which is named by `declare -n`. */
export function referenceProblem(nodes: readonly Node[]): Problem | undefined {
  const names = new Set<string>()
  const commands = nodes.filter((node) => node.type === 'SimpleCommand')
  for (const node of commands) {
    if (!['declare', 'local', 'typeset'].includes(literal(node.name) ?? '')) continue
    const words = node.args.map(textOf)
    if (words.some((word) => /^-[a-zA-Z]*n/.test(word)))
      for (const word of words) if (!word.startsWith('-')) names.add(word.replace(/=.*$/s, ''))
  }
  if (names.size === 0) return undefined
  const reason = 'a list, and what is read or added, does not reach the variable that `-n` names; use its own name'
  for (const node of commands) {
    const odd = node.assignments?.find(
      (one) =>
        names.has(one.name ?? '') &&
        ((one.array ?? null) !== null || (one as { readonly append?: boolean }).append === true),
    )
    if (odd !== undefined) return { subject: `${odd.name}=`, reason }
    if (!['read', 'mapfile', 'readarray'].includes(literal(node.name) ?? '')) continue
    const target = node.args.map(textOf).find((word) => names.has(word))
    if (target !== undefined) return { subject: `${literal(node.name)} ${target}`, reason }
  }
  return undefined
}

function textOf(word: Word): string {
  const all = (parts: readonly Part[]): string =>
    parts.map(({ value, parts: inner }) => (inner === undefined ? (value ?? '') : all(inner))).join('')
  return all(word.parts)
}

/** `$_` is the last word of the command before, which is not known at the start and after a command without words. */
export function lastWordProblem(nodes: readonly Node[]): Problem | undefined {
  let before: SimpleCommand | undefined
  let current: SimpleCommand | undefined
  for (const node of nodes) {
    if (node.type === 'SimpleCommand') [before, current] = [current, node]
    else if ((node as unknown as Expansion).parameter === '_' && (before?.args ?? []).length === 0)
      return { subject: '$_', reason: 'the command before has no words' }
  }
  return undefined
}

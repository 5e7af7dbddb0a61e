import type { Problem } from './checked.ts'
import { literal, type Node, type WordPart, type SimpleCommand, literalText, type Word } from '../state/nodes.ts'

/** Variables that bash sets and just-bash leaves empty. */
const unset = new Set(
  'BASH BASHPID BASH_COMMAND BASH_SUBSHELL BASH_VERSINFO DIRSTACK EPOCHREALTIME EPOCHSECONDS GROUPS HISTCMD PS4 SHLVL SRANDOM'.split(
    ' ',
  ),
)

/** The first difference between bash and just-bash that cannot be rewritten. */
export function unlikeBash(node: Node): Problem | undefined {
  const { type, parts = [], parameter = '', operation, items, pattern = '' } = node as unknown as WordPart
  const text = node.type === 'Statement' ? (node.sourceText ?? '') : ''
  if (type === 'ParameterExpansion') {
    const [name = ''] = parameter.split('[')
    if (unset.has(name)) return { subject: `$${name}`, reason: 'it is not known here' }
    if (operation?.type === 'CaseModification' && operation.all === false && /^[@*]$|\[[@*]\]$/.test(parameter))
      return { subject: '${…[@]^}', reason: 'of several words only the first would change; use a loop' }
    if (operation?.type === 'Transform' && operation.operator === 'Q')
      return { subject: '${…@Q}', reason: 'it quotes in another way than bash; use printf %q' }
  }
  if (type === 'Glob' && /[?*+@!]\(/.test(pattern) && /(["'])[^"']*[()][^"']*\1|\\[()]/.test(pattern))
    return quotedInGroup
  if (negatedWord.test(text.replace(/'[^']*'|"(?:[^"\\]|\\.)*"/gs, '"')))
    return { subject: '[[ !… ]]', reason: 'without a blank after `!` it is a part of the word; put one there' }
  if (innerSubscript.test(text))
    return { subject: '[[ -v a[b[…]] ]]', reason: 'bash refuses the inner subscript; put its value into a variable' }
  if (blankInKey.test(text)) return { subject: 'name=([a b]=…)', reason: 'a blank in a key; quote the key' }
  // just-bash would end the group at a quoted parenthesis.
  if (quotedParenthesis.test(text) && groupInTree.test(JSON.stringify(node))) return quotedInGroup
  if (
    (type === 'Word' && parts.some((part) => part.type === 'BraceExpansion') && parts.some(isTorn)) ||
    (type === 'BraceExpansion' && items?.some(({ word }) => word?.parts.some(isTorn) === true) === true)
  )
    return { subject: '{…}', reason: 'a quote or a backslash in braces; write the words out' }
  if (quotedComma.test(text) && JSON.stringify(node).includes('"BraceExpansion"'))
    return { subject: '{…}', reason: 'a quoted comma in braces; write the words out' }
  const words = node.type === 'For' ? (node.words ?? []) : node.type === 'SimpleCommand' ? node.args : []
  if (words.some(holdsBracesInBrackets)) return { subject: '{…}', reason: 'braces in brackets; write the words out' }
  if (node.type === 'For' && JSON.stringify(words).includes('"LINENO"'))
    return { subject: '$LINENO', reason: 'it is not known in the words of a loop; put it into a variable before' }
  if (words.some(runsOn)) return { subject: '[', reason: 'after a name it is not closed before a blank; quote it' }
  if (type === 'BraceExpansion' && items?.some(isOfTwoCases))
    return { subject: '{a..Z}', reason: 'letters of two cases; write them out' }
  if (node.type !== 'SimpleCommand') return undefined
  if (node.assignments?.some(({ array }) => array?.some(runsOn)))
    return { subject: 'name=(…[…)', reason: 'a bracket that is not closed before a blank; quote it' }
  if (node.assignments?.some(({ array }) => array?.some(hasComputedKey) === true) === true)
    return { subject: 'name=([…]=…)', reason: 'a key is not expanded there; use name[…]=…' }
  return unlikeBuiltin(node)
}

const quotedInGroup: Problem = {
  subject: '@(…)',
  reason: 'a quoted parenthesis in a group; put it into a variable',
}
const negatedWord = /\[\[(?:(?!\]\])[^])*[\s(]!(?![\s=(])/
const blankInKey = /^\s*(?:declare|local|typeset)\s[^(]*=\([^]*?\[[^\]"'$`\\]*\s[^\]]*\]=/
const innerSubscript = /\s-v\s+["']?\w+\[[^\]\s]*\[/
const quotedParenthesis = /[?*+@!]\((?:[^()'"]|'[^'()]*'|"[^"()]*")*(?:'[^'()]*[()]|"[^"()]*[()])/
const groupInTree = /"pattern":"[^"]*[?*+@!]\(/

const quotedComma = /\{[^{}]*(["'])[^"'{}]*,[^"'{}]*\1[^{}]*\}/

/** True for a word such as `[$k]=v`, or the beginning of `[1 + 1]=v`. */
function hasComputedKey({ parts }: Word): boolean {
  const [first, ...others] = parts.map(({ value, pattern }) => value ?? (typeof pattern === 'string' ? pattern : ''))
  if (first?.startsWith('[') !== true || !/^(?:Glob|Literal)$/.test(parts[0]?.type ?? '')) return false
  const isOpen = first.split('[').length > [first, ...others].join('').split(']').length
  return isOpen || others.some((text) => text.startsWith(']='))
}

/** True if just-bash took a blank or an operator after `a[` as a part of the word. */
function runsOn({ parts }: Word): boolean {
  if (/^\w+\+?=\(/.test(parts[0]?.value ?? '')) return false
  const at = parts.findIndex(({ type, pattern }) => type === 'Glob' && (pattern ?? '').includes('['))
  return (
    at !== -1 &&
    parts
      .slice(at)
      .some(({ type, value = '', pattern }) =>
        type === 'Glob'
          ? /^\[(?:[^\\]|\\.)*?(?<!\\)[\s;&|<>]/.test(pattern ?? '')
          : type === 'Literal' && /[\s;&|<>]/.test(value),
      )
  )
}

const isOfTwoCases = ({ start, end }: { readonly start?: string | number; readonly end?: string | number }) =>
  /^(?:[a-z][A-Z]|[A-Z][a-z])$/.test(`${start}${end}`)

/** True for braces inside brackets: bash expands the braces first. */
const holdsBracesInBrackets = ({ parts }: Word): boolean =>
  parts.some(({ pattern = '' }) => /\[[^\]]*\{[^{}]*(?:,|\.\.)[^{}]*\}/.test(pattern))

/** True for a part with a quote: just-bash treats a quoted comma in braces as a separator. */
function isTorn({ type, value = '' }: WordPart): boolean {
  return type === 'Literal' && /['"]|\\$/.test(value)
}

function unlikeBuiltin(node: SimpleCommand): Problem | undefined {
  const name = literal(node.name)
  const words = node.args.map((word) => literalText(word))
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

/** Refuses `$_` where the last word of the previous command is unknown: at the start, and after a command without words. */
export function lastWordProblem(nodes: readonly Node[]): Problem | undefined {
  let before: SimpleCommand | undefined
  let current: SimpleCommand | undefined
  for (const node of nodes) {
    if (node.type === 'SimpleCommand') [before, current] = [current, node]
    else if ((node as unknown as WordPart).parameter === '_' && (before?.args ?? []).length === 0)
      return { subject: '$_', reason: 'the command before has no words' }
  }
  return undefined
}

import type { WordPart, Word } from '../state/nodes.ts'
import { partsOfText } from './patterns.ts'

export const isList = (part: WordPart): boolean =>
  part.type === 'ParameterExpansion' &&
  (/^@$|\[@\]$/.test(part.parameter ?? '') ||
    (/^(?:ArrayKeys|VarNamePrefix|Indirection)$/.test(part.operation?.type ?? '') && !part.operation?.star) ||
    wordHoldsList(part))

const holdsList = ({ type, parts = [] }: WordPart) => type === 'DoubleQuoted' && parts.some(isList)

export const isChoice = ({ operation, parameter }: WordPart): boolean =>
  /^(?:DefaultValue|UseAlternative)$/.test(operation?.type ?? '') && parameter !== '__nothing'

export const wordHoldsList = (part: WordPart): boolean =>
  isChoice(part) && part.operation?.word?.parts.some((one) => isList(one) || holdsList(one)) === true

const open = /^(?:Glob|BraceExpansion|ParameterExpansion|CommandSubstitution|ArithmeticExpansion)$/
const known = new WeakMap<Word, boolean>()

export function isOpen(word: Word): boolean {
  let result = known.get(word)
  if (result === undefined) {
    const { parts } = word
    const isOdd = (part: WordPart) =>
      open.test(part.type) ||
      // just-bash would read these quoted characters as a pattern.
      (/^(?:Literal|Escaped)$/.test(part.type) && /[*?[\\]/.test(part.value ?? '')) ||
      (part.type === 'DoubleQuoted' &&
        part.parts?.some(isAnyList) === true &&
        (part.parts.some(mayBeNothing) ||
          parts.length + (part.parts?.length ?? 0) > 2 ||
          part.parts?.some(wordHoldsList) === true))
    result = parts.some(isOdd) && parts.every(({ type }) => type !== 'ProcessSubstitution')
    known.set(word, result)
  }
  return result
}

export const hasEffect = (word: Word): boolean =>
  /"type":"(?:AssignDefault|ArithmeticExpansion|CommandSubstitution)"/.test(JSON.stringify(word))

export const isExpanded = ({ parts }: Word): boolean =>
  parts.some(({ type, parts: inner }) => type === 'DoubleQuoted' && inner?.some((one) => one.type !== 'Literal')) &&
  parts.every(({ type }) => type !== 'ProcessSubstitution')

export const flat = (part: WordPart): readonly WordPart[] =>
  part.type === 'DoubleQuoted' ? (part.parts ?? []) : part.type === 'Glob' ? partsOfText(part.pattern ?? '') : [part]

export const isSplit = (part: WordPart): boolean => /^(?:Param|Command|Arith)/.test(part.type) || holdsList(part)

export const isOpenName = (word: Word): boolean => isOpen(word) || word.parts.some(holdsList)

/** True for `name=value` in a declaration. Such a word is not split. */
export const isAssignment = ({ parts: [first, second] }: Word): boolean =>
  first?.type === 'Literal' &&
  /^[A-Za-z_]\w*(?:\+?=|$)/.test(first.value ?? '') &&
  (first.value?.includes('=') === true || second?.pattern?.startsWith('[') === true)

export const isKeyed = ({ parts: [first, ...others] }: Word): boolean =>
  first?.pattern?.startsWith('[') === true && others.some(({ value = '' }) => /^\]?\+?=/.test(value))

/** True for `x={a,b}`. just-bash keeps the braces as text. */
export const holdsBraces = ({ parts }: Word): boolean =>
  /\{[^{}]*(?:,|\.\.)[^{}]*\}/.test(parts.map(({ type, value = '' }) => (type === 'Literal' ? value : '')).join(''))

/** True for `${@+x}`. Without parameters, this part yields no word. */
export const mayBeNothing = ({ parameter, operation }: WordPart): boolean =>
  parameter === '@' && operation?.type === 'UseAlternative'

/** True for `${a[*]}` and `${*:1}`. */
export const isStar = ({ type, parameter = '', operation }: WordPart): boolean =>
  type === 'ParameterExpansion' &&
  (parameter.endsWith('[*]') || (parameter === '*' && Boolean(operation)) || operation?.star === true)

/** True for text that just-bash assigns wrongly: a list, or brackets with a quote, such as `['*']`. */
export const isOddText = ({ parts }: Word): boolean =>
  parts.some((part) => isAnyList(part) || part.parts?.some(isAnyList) === true) ||
  (parts.some(({ type, pattern }) => type === 'Glob' && pattern?.includes('[') === true) &&
    parts.some(({ type, pattern }) => type.endsWith('Quoted') || /["'\\]/.test(pattern ?? '')))

const isAnyList = (part: WordPart) => isList(part) || isStar(part) || part.parameter === '*'

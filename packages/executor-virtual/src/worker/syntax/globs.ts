import { uses } from '../patterns/marks.ts'
import type { Problem } from './checked.ts'
import { literal, type Node, type Part, type Word } from './nodes.ts'
import { marked } from './patterns.ts'

// just-bash matches the names of files by a matcher of its own, which knows less of quotes and brackets than bash.

interface Shape {
  readonly pattern?: string
  readonly parameter?: string
  readonly operation?: object | null
}

/** Commands that take `name[key]` for a variable. */
const takesNames = /^(?:unset|declare|typeset|local|export|readonly|read|let|test|\[)$/

/** The first word that would match other names of files than in bash. Where only a value decides, the matcher looks at it. */
export function globProblem(nodes: readonly Node[]): Problem | undefined {
  const hidden = nodes.some(
    (node) =>
      node.type === 'SimpleCommand' && literal(node.name) === 'shopt' && node.args.map(literal).includes('dotglob'),
  )
  for (const node of nodes) {
    if (node.type !== 'SimpleCommand' && node.type !== 'For') continue
    const assignments = node.type === 'For' ? [] : (node.assignments ?? [])
    const words = node.type === 'For' ? (node.words ?? []) : node.args
    if (
      assignments.some(({ name }) => name === 'GLOBIGNORE') ||
      words.some(({ parts }) => parts?.[0]?.value?.startsWith('GLOBIGNORE=') === true)
    )
      return { subject: 'GLOBIGNORE', reason: 'it leaves out other names than in bash; use find' }
    const isName = node.type === 'SimpleCommand' && takesNames.test(literal(node.name) ?? '')
    for (const word of [...(isName ? [] : words), ...assignments.flatMap(({ array }) => array ?? [])]) {
      const reason = oddGlob(word, hidden)
      if (reason !== undefined) return { subject: 'a name with `*`, `?` or `[`', reason: `${reason}; use find` }
      if (word.parts?.some(isOpen) === true) for (const part of word.parts) watchValues(part)
    }
  }
  return undefined
}

const isOpen = ({ type }: Part) => type === 'ParameterExpansion' || type === 'CommandSubstitution'

/** Beside a variable without quotes, just-bash takes the signs in a quoted value for those of a pattern. */
function watchValues(part: Part): void {
  const { type, parts = [] } = part
  const isText = (one: Part) => /^(?:Literal|Escaped)$/.test(one.type)
  const isValue = (one: Part) => {
    const { parameter = '', operation = null } = one as Shape
    return one.type === 'ParameterExpansion' && !/[@*]/.test(parameter) && operation === null
  }
  if (type !== 'DoubleQuoted' || !parts.some(isValue) || !parts.every((one) => isText(one) || isValue(one))) return
  const pattern = marked({ type: 'Word', parts: parts.filter(isValue) }, uses.name)
  const operation = { type: 'PatternRemoval', pattern, side: 'prefix', greedy: true }
  Object.assign(part, { parts: [...parts, { type: 'ParameterExpansion', parameter: '#', operation }] })
}

function oddGlob({ parts = [] }: Partial<Word>, hidden: boolean): string | undefined {
  const patterns = parts.flatMap((part) => (part.type === 'Glob' ? [String((part as Shape).pattern)] : []))
  // `.a[]` and a `[` alone are texts in both.
  const isText =
    parts.every(({ type }) => type === 'Glob' || type === 'Literal') &&
    !/[*?[]/.test(
      patterns
        .join('')
        .replace(/\[\d*\]/g, '')
        .replace(/\[(?![!^])/, ''),
    )
  if (patterns.some((pattern) => /["'\\]/.test(pattern))) return 'a quote or a backslash in brackets'
  for (const pattern of isText ? [] : patterns) {
    const rest = pattern.replace(/\[:\w*:\]/g, 'x').replace(/\[(?:[!^][^]|[^!^])[^\]]*\]/g, '')
    if (rest.includes('[') || /\[[.=]/.test(pattern)) return 'brackets that are not closed'
    if (/\[[!^]?\]/.test(pattern)) return '`]` as the first sign in brackets'
    if (/\[:(?!x?digit|blank|cntrl)\w*:\]/.test(pattern)) return 'a class that may hold letters other than of ASCII'
  }
  if (parts.some(isOpen) && parts.some(holdsSpecial)) return 'a quoted sign beside a variable that is not quoted'
  const text = parts
    .map((part) =>
      String((part as Shape).pattern ?? (part.value === undefined || part.value === '' ? 'x' : part.value)),
    )
    .join('')
  if (parts.some(({ type, value = '' }) => type === 'Escaped' && /[*?[]/.test(value)) && text.endsWith('/'))
    return 'a quoted sign before a slash at the end'
  if (patterns.length === 0) return undefined
  const least = parts.map((part) => (part as Shape).pattern ?? part.value ?? '').join('')
  if (least.endsWith('/') && !text.endsWith('/')) return 'a slash before a part that may be empty'
  if (
    /(?:^|\/)\.[*?][^/]*\/./.test(text) ||
    (hidden && /[*?\]][^/]*\/./.test(text)) ||
    /[*?\]].*\/\.\.?(?:\/|$)/.test(text)
  )
    return '`.` and `..` on the way'
  return undefined
}

/** True for a quoted part with a sign that is special without quotes. A text with blanks or slashes is hardly a name. */
function holdsSpecial({ type, value = '', parts = [] }: Part): boolean {
  const text = type === 'DoubleQuoted' ? parts.map((part) => part.value ?? '').join('') : value
  return /^(?:SingleQuoted|DoubleQuoted|Escaped)$/.test(type) && /[*?[\]\\]/.test(text) && !/[\s/{}]/.test(text)
}

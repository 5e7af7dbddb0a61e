import { parse } from '#just-bash'

import { expressionNode, type Within } from '../arithmetic/expression.ts'
import { needsShell } from '../arithmetic/variables.ts'
import { marks, uses } from '../patterns/marks.ts'
import { type Part, wordOf } from './nodes.ts'
import { marked } from './patterns.ts'

// just-bash counts in doubles, and expands `${x}` and `$(…)` after it has read an expression; bash expands the text first. Each
// expression becomes a node that evaluates its text by rules of bash. A text with commands is expanded before, by a pattern
// that finds nothing: its text comes to the matcher, which keeps it.

interface Expression {
  expression: object
  originalText?: string
}

interface Shape {
  readonly type?: string
  readonly parameter?: string
  readonly operation?: {
    readonly type: string
    readonly offset: Expression
    readonly length?: Expression | null
  } | null
  readonly redirections?: readonly unknown[]
}

/** Names of variables that only just-bash knows. */
const own = /\b(?:SECONDS|LINENO|UID|EUID|PPID|OPTIND|BASHPID|SRANDOM|EPOCH\w+|BASH_\w+|FUNCNAME)\b/

export function rewriteArithmetic(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const one of node) rewriteArithmetic(one)
    return
  }
  const { type } = node as Shape
  if (type === 'ArithmeticExpansion' || type === 'ArithmeticCommand') {
    const { expression } = node as { readonly expression: Expression }
    const text = textOf(expression)
    if (needsShell(text) && !own.test(text)) {
      expandFirst(node, type, text)
      return
    }
  }
  if (type === 'ArithmeticExpression') {
    rewrite(node as Expression)
    return
  }
  const { parameter = '', operation } = node as Shape
  if (operation?.type === 'Substring' && /^\w+$/.test(parameter)) {
    rewrite(operation.offset, { name: parameter, isOffset: true })
    if (operation.length) rewrite(operation.length, { name: parameter, isOffset: false })
  }
  for (const child of Object.values(node)) rewriteArithmetic(child)
}

/** The text as it was: just-bash takes `((i<=3))` apart. `$((…))` within an expression is a part of it, but not in a command. */
function textOf({ originalText = '' }: Expression): string {
  let text = originalText.replace(/([<>]) =/g, '$1=')
  // It may take one of the parentheses at the end too many.
  if (text.endsWith(')') && text.split(')').length > text.split('(').length) text = text.slice(0, -1)
  const flat = text.replaceAll('$((', `((${marks.nested}`)
  return /\$\(|`/.test(flat) ? text : flat
}

function rewrite(node: Expression, within?: Within): void {
  const text = textOf(node)
  if (text === '' || own.test(text)) return
  node.expression = needsShell(text) ? refused : expressionNode(text, within)
  node.originalText = ''
}

const refused = {
  type: 'ArithCommandSubst',
  command: "__refused '$(…) or ${…} in arithmetic' 'put it into a variable first'",
}

function expandFirst(node: object, type: string, text: string): void {
  const word = wordOf(`"${/\$\(|`/.test(text) ? text : text.replace(/(?<!\\)"/g, '')}"`)
  rewriteArithmetic(word)
  const expand: Part = {
    type: 'ParameterExpansion',
    parameter: '#',
    operation: { type: 'PatternRemoval', pattern: marked(word, uses.arithmetic), side: 'prefix', greedy: true },
  } as Part
  const expression = { type: 'ArithmeticExpression', expression: expressionNode(), originalText: '' }
  const { redirections = [] } = node as Shape
  for (const key of Object.keys(node)) Reflect.deleteProperty(node, key)
  if (type === 'ArithmeticExpansion') {
    const operation = {
      type: 'DefaultValue',
      word: { type: 'Word', parts: [expand, { type: 'ArithmeticExpansion', expression }] },
      checkEmpty: false,
    }
    Object.assign(node, { type: 'ParameterExpansion', parameter: '__nothing', operation })
    return
  }
  const body = parse(': _; ((0))').statements
  const [first, second] = body.map(({ pipelines }) => pipelines[0]?.commands[0])
  Object.assign(first ?? {}, { args: [{ type: 'Word', parts: [{ type: 'DoubleQuoted', parts: [expand] }] }] })
  Object.assign(second ?? {}, { expression })
  Object.assign(node, { type: 'Group', body, redirections })
}

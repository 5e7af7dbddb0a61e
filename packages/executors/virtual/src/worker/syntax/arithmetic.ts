import { parse } from '#just-bash'

import {
  comparisonNode,
  type Element,
  expressionNode,
  numberNode,
  subscriptNode,
  type Use,
} from '../arithmetic/expression.ts'
import { needsShell } from '../arithmetic/expand.ts'
import { uses } from '../patterns/marks.ts'
import { literalWord, type WordPart, type Word, wordOf } from '../state/nodes.ts'
import { marked } from './patterns.ts'

// just-bash calculates in doubles, and expands `${x}` and `$(…)` after parsing an expression. bash expands first.
// So this file replaces each expression by a node that evaluates the text of the expression by bash's rules.
// Text with commands is expanded as a pattern that removes everything; the matcher keeps the expanded text.

interface Expression {
  expression: object
  originalText?: string
}

interface Shape {
  readonly type?: string
  readonly parameter?: string
  readonly operator?: string
  readonly operation?: {
    readonly type: string
    readonly offset: Expression
    readonly length?: Expression | null
  } | null
  readonly redirections?: readonly unknown[]
  readonly init?: Expression | null
  readonly update?: Expression | null
  readonly condition?: Expression | null
  readonly left?: Word
  readonly right?: Word
  readonly operand?: Word
  readonly parts?: readonly WordPart[]
  readonly name?: string
  readonly value?: Word | null
  readonly array?: readonly Word[] | null
}

/** Variables whose values only just-bash can compute. */
const own = /\b(?:SECONDS|LINENO|UID|EUID|PPID|OPTIND|BASHPID|SRANDOM|EPOCH\w+|BASH_\w+|FUNCNAME)\b/

/** @param reach how much of the script a fault of an expansion ends */
export function rewriteArithmetic(node: unknown, reach?: Use['reach']): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const one of node) rewriteArithmetic(one, reach)
    return
  }
  const { type = '', operator = '', parameter = '', operation } = node as Shape
  if (type === 'ArithmeticExpansion' || type === 'ArithmeticCommand') {
    const { expression } = node as { readonly expression: Expression }
    const text = expressionText(expression)
    const use = { reach: type === 'ArithmeticCommand' ? ('command' as const) : reach }
    if (needsShell(text) && !own.test(text)) expandFirst(node, type, text, use)
    else rewrite(expression, use)
    return
  }
  if (type === 'ArithmeticExpression') {
    rewrite(node as Expression, { reach })
    return
  }
  if (operation?.type === 'Substring' && /^\w+$/.test(parameter)) {
    rewrite(operation.offset, { reach, within: { name: parameter, isOffset: true } })
    if (operation.length) rewrite(operation.length, { reach, within: { name: parameter, isOffset: false } })
  }
  if (type === 'CStyleFor') rewriteLoop(node)
  if (type === 'Assignment') assignElements(node)
  if (type === 'CondUnary' && operator === '-v') nameElement(node)
  // This reach does not apply to a nested script.
  const inner = type === 'Redirection' ? 'redirection' : type === 'Script' ? undefined : reach
  for (const child of Object.values(node)) rewriteArithmetic(child, inner)
  if (type === 'CondBinary' && /^-(?:eq|ne|lt|le|gt|ge)$/.test(operator)) compare(node)
  const { parts } = node as Shape
  if (parts !== undefined) Object.assign(node, { parts: parts.flatMap((part) => withKey(part, inner)) })
}

/** Rewrites `[[ a -lt b ]]` as `[[ N == 1 ]]`: both texts are expanded, then evaluated. */
function compare(node: Shape): void {
  const left = wordFrom([node.left, node.right], comparisonNode(node.operator ?? ''))
  Object.assign(node, { operator: '==', left, right: literalWord('1') })
}

/** The word for an assignment to a variable with the attribute `-i`. */
export function numberWord(value: Word | undefined, added: string | undefined): Word {
  return wordFrom([value], numberNode(added))
}

function wordFrom(expanded: readonly (Word | undefined)[], node: object): Word {
  const expression = { type: 'ArithmeticExpression', expression: node, originalText: '' }
  return { type: 'Word', parts: [...expanded.map(expansion), { type: 'ArithmeticExpansion', expression } as WordPart] }
}

/** Rewrites `for ((…))`, in which a fault ends the loop. The condition detects the fault, so a missing condition is added. */
function rewriteLoop(node: Shape): void {
  const condition = node.condition ?? { expression: {}, originalText: '1' }
  Object.assign(node, { condition })
  for (const part of [node.init, condition, node.update]) if (part) rewrite(part, { reach: 'command', inLoop: true })
}

let count = 0

interface Subscript {
  readonly name: string
  /** Parts that expand to nothing, and compute the key. */
  readonly parts: readonly WordPart[]
}

/** An element whose subscript is an expression. The key is computed before the element is used, by bash's rules. */
function element(text: string, use: Element['use'], reach?: Use['reach']): Subscript | undefined {
  const [, name = '', subscript = ''] = /^(\w+)\[(.+)\]$/s.exec(text) ?? []
  const isKnown =
    /^(?:[@*]|0|[1-9]\d{0,14})?$/.test(subscript) && (use === 'value' || use === 'list' || subscript === '@')
  const inShell = needsShell(subscript)
  if (name === '' || isKnown || own.test(`${name} ${subscript}`) || (inShell && /['\\]/.test(subscript)))
    return undefined
  const kept = `__key${++count}`
  const expand = inShell ? [inQuotes(subscript, reach)] : []
  const node = subscriptNode({ name, subscript: inShell ? undefined : subscript, kept, use }, reach)
  const [offset, length] = [node, expressionNode('0')].map((expression) => ({
    type: 'ArithmeticExpression',
    expression,
    originalText: '',
  }))
  const find = {
    type: 'ParameterExpansion',
    parameter: '#',
    operation: { type: 'Substring', offset, length },
  } as WordPart
  return { name: `${name}[$${kept}]`, parts: [...expand, find] }
}

const defaults: ReadonlySet<string> = new Set(['DefaultValue', 'AssignDefault', 'ErrorIfUnset', 'UseAlternative'])

function withKey(part: WordPart, reach: Use['reach']): readonly WordPart[] {
  const { type, parameter = '', operation } = part as unknown as Shape
  if (type !== 'ParameterExpansion') return [part]
  const found = element(parameter, defaults.has(operation?.type ?? '') ? 'default' : 'value', reach)
  return found === undefined ? [part] : [...found.parts, Object.assign(part, { parameter: found.name })]
}

function nameElement(node: Shape): void {
  const found = element(plainText(node.operand as Word), 'default')
  if (found === undefined) return
  const parts = [...found.parts, { type: 'SingleQuoted', value: found.name }]
  Object.assign(node, { operand: { type: 'Word', parts } })
}

/** Rewrites `a[…]=x` and `a=([…]=x)`. In the first form, the value is computed before the key. */
function assignElements(node: Shape): void {
  const { name = '', value, array } = node
  const found = element(name, 'assignment')
  if (found !== undefined)
    Object.assign(node, { name: found.name, value: { type: 'Word', parts: [...(value?.parts ?? []), ...found.parts] } })
  for (const word of array ?? []) {
    const [, key = ''] = /^\[(.+?)\]\+?=/s.exec(plainText(word)) ?? []
    const checked = element(`${name}[${key}]`, 'list')
    if (checked !== undefined) Object.assign(word, { parts: [...word.parts, ...checked.parts] })
  }
}

function plainText({ parts }: Word): string {
  const texts = parts.map(({ type, value, pattern }) =>
    type === 'Glob' ? String(pattern) : type === 'Literal' ? value : undefined,
  )
  return texts.includes(undefined) ? '' : texts.join('')
}

/** The original text of an expression. just-bash inserts a blank in `((i<=3))`, and may include extra parentheses. */
function expressionText({ originalText = '' }: Expression): string {
  const text = originalText.replace(/([<>]) =/g, '$1=')
  let depth = 0
  const end = [...text].findIndex((character) => (depth += character === '(' ? 1 : character === ')' ? -1 : 0) < 0)
  return end !== -1 && /^\)+$/.test(text.slice(end)) ? text.slice(0, end) : text
}

function rewrite(node: Expression, use: Use): void {
  const text = expressionText(node)
  if (text === '' || own.test(text)) return
  node.expression = needsShell(text) ? refused : expressionNode(text, use)
  node.originalText = ''
}

const refused = {
  type: 'ArithCommandSubst',
  command: "__refused '$(…) or ${…} in arithmetic' 'put it into a variable first'",
}

/** A part that expands to nothing, and whose text is kept for the arithmetic evaluator. */
function expansion(word: Word | undefined): WordPart {
  const pattern = marked(word, uses.arithmetic)
  const operation = { type: 'PatternRemoval', pattern, side: 'prefix', greedy: true }
  return { type: 'ParameterExpansion', parameter: '#', operation } as WordPart
}

function inQuotes(text: string, reach: Use['reach']): WordPart {
  const word = wordOf(`"${/\$\(|`/.test(text) ? text : text.replace(/(?<!\\)"/g, '')}"`)
  rewriteArithmetic(word, reach)
  return expansion(word)
}

function expandFirst(node: object, type: string, text: string, use: Use): void {
  const expand = inQuotes(text, use.reach === 'redirection' ? 'redirection' : 'line')
  const expression = { type: 'ArithmeticExpression', expression: expressionNode(undefined, use), originalText: '' }
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

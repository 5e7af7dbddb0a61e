import { parse } from '#just-bash'

import type { Problem } from './checked.ts'
import { type Node, type Part, type Word, walk } from './nodes.ts'

interface Shape {
  readonly type?: string
  readonly operator?: string
  readonly value?: Word | null
  readonly target?: Word & { readonly content?: Word }
  readonly parameter?: string
  readonly parts?: readonly Part[]
  readonly operation?: unknown
}

/**
 * Joins `"${a[*]}"` by IFS. In an assignment and in here-documents just-bash joins by a blank; as a word of a command it
 * does as bash does, so a command gives the text.
 */
export function joinByIfs(ast: unknown): void {
  walk(ast, splitList)
  if (changesIfs(ast)) {
    visit(ast)
    return
  }
  const words: Shape[] = []
  walk(ast, (node) => words.push(node as unknown as Shape))
  words.forEach(dropEmpty)
}

/** bash splits `$@` without quotes as `$*`; just-bash keeps empty words where IFS has more than blanks. */
function splitList(node: Node): void {
  const words = node.type === 'For' ? node.words : node.type === 'SimpleCommand' ? node.args : undefined
  const arrays = node.type === 'SimpleCommand' ? (node.assignments ?? []).map(({ array }) => array ?? []) : []
  for (const { parts } of [...(words ?? []), ...arrays.flat()]) {
    const [part] = parts
    const { parameter = '', operation } = (part ?? {}) as Shape
    if (parts.length === 1 && part?.type === 'ParameterExpansion' && (operation ?? null) === null)
      Object.assign(part, { parameter: parameter.replace(/^@$|(?<=\[)@(?=\]$)/, '*') })
  }
}

const changesIfs = (ast: unknown) => /"name":"IFS"|"value":"IFS="/.test(JSON.stringify(ast))

/** `${@:2}` without quotes around, where words are split by other characters than blanks. */
export function sliceProblem(ast: unknown, nodes: readonly Node[]): Problem | undefined {
  const slices = nodes.some(
    (node) =>
      node.type === 'SimpleCommand' &&
      (node.args.some(({ parts }) => parts.some(isSlice)) || JSON.stringify(node.assignments).includes('"ArrayKeys"')),
  )
  return slices && changesIfs(ast)
    ? { subject: '${…[@]:…}', reason: 'without quotes, while IFS is another; quote it' }
    : undefined
}

const isSlice = (part: Part) => {
  const { parameter = '', operation } = part as unknown as Shape
  return /^[@*]$|\[[@*]\]$/.test(parameter) && (operation as { readonly type?: string } | null)?.type === 'Substring'
}

/** `${@:2}` without quotes around keeps empty words; as a default it is split by blanks, as in bash. */
function dropEmpty({ type, parts = [] }: Shape): void {
  if (type !== 'Word') return
  for (const part of parts.filter(isSlice)) {
    const word: Word = { type: 'Word', parts: [{ ...part }] }
    Object.assign(part, { parameter: '__nothing', operation: { type: 'DefaultValue', word, checkEmpty: false } })
  }
}

function visit(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const one of node) visit(one)
    return
  }
  const { type, operator, value, target } = node as Shape
  if (type === 'Assignment' && value !== undefined && value !== null) join(value.parts)
  if (type === 'Redirection' && operator?.startsWith('<<') === true) join((target?.content ?? target)?.parts)
  for (const child of Object.values(node)) visit(child)
}

function join(parts: readonly Part[] = []): void {
  for (const part of parts) {
    const { parameter = '', operation } = part as unknown as Shape
    join(part.parts)
    const slice = (operation as { readonly type?: string } | null | undefined)?.type === 'Substring'
    if (part.type !== 'ParameterExpansion' || !/^(?:\w+\[\*\]|\*)$/.test(parameter)) continue
    if (!slice && ((operation ?? null) !== null || parameter === '*')) continue
    const body = parse('printf %s "_"')
    walk(body, (node) => {
      const { type, parts: inner } = node as unknown as Part
      if (type === 'DoubleQuoted' && inner?.[0]?.value === '_') (inner as Part[]).splice(0, 1, { ...part })
    })
    for (const key of Object.keys(part)) Reflect.deleteProperty(part, key)
    Object.assign(part, { type: 'CommandSubstitution', body, legacy: false })
  }
}

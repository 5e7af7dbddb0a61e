import { parse } from '#just-bash'

import type { Part, Word } from './nodes.ts'

interface Shape {
  readonly type?: string
  readonly operator?: string
  readonly value?: Word | null
  readonly target?: Word & { readonly content?: Word }
  readonly parameter?: string
  readonly operation?: unknown
}

/**
 * Joins `"${a[*]}"` by IFS. In an assignment and in here-documents just-bash joins by a blank; as a word of a command it
 * does as bash does, so a command gives the text.
 */
export function joinByIfs(ast: unknown): void {
  if (/"name":"IFS"|"value":"IFS="/.test(JSON.stringify(ast))) visit(ast)
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
    if (part.type !== 'ParameterExpansion' || !/^\w+\[\*\]$/.test(parameter) || (operation ?? null) !== null) continue
    const body = parse(`printf %s "\${${parameter}}"`)
    for (const key of Object.keys(part)) Reflect.deleteProperty(part, key)
    Object.assign(part, { type: 'CommandSubstitution', body, legacy: false })
  }
}

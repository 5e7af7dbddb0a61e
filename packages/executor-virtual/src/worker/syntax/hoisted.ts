import { parse } from '#just-bash'

import { numberRedirections } from './redirections.ts'

// just-bash runs `$(…)` within arithmetic in a new shell: without variables, functions and the working directory. Of
// `${x%.*}` there it knows a few forms. Both are expanded before the arithmetic instead, which takes them from variables.

interface Shape {
  readonly type?: string
  readonly expression?: unknown
  readonly command?: string
  readonly content?: string
}

/** Takes the commands out of arithmetic; where they cannot be taken out, the script is refused at that place. */
export function hoistCommands(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const one of node) hoistCommands(one)
    return
  }
  const { type } = node as Shape
  const expression = (node as Shape).expression as { expression: unknown } | undefined
  if ((type === 'ArithmeticExpansion' || type === 'ArithmeticCommand') && expression !== undefined) {
    const text = (expression as { readonly originalText?: string }).originalText ?? ''
    // Digits after a base (`10#$x`) are only expanded as text.
    const based = text.replace(/(\d#\$)\{([a-zA-Z_]\w*)\}/g, '$1$2')
    const known = type === 'ArithmeticExpansion' && !/\d#(?:\$[^a-zA-Z_]|`)/.test(based)
    if (/\d#[$`]/.test(text))
      Object.assign(expression, known ? { originalText: based } : { expression: refused, originalText: '' })
    const values: string[] = []
    const inner = taken(expression.expression, values)
    const changes = /"type":"ArithAssignment"|"operator":"(?:\+\+|--)"/.test(JSON.stringify(inner))
    if (values.length > 0 && (type === 'ArithmeticCommand' || !changes)) replace(node, type, inner, values)
    else if (values.length > 0) Object.assign(expression, { originalText: '' })
  } else if (valueOf(node as Shape) !== undefined) {
    Object.assign(node, refused)
    return
  }
  for (const child of Object.values(node)) hoistCommands(child)
}

/** These are expanded as in bash: `${x}`, `${#x}`, `${x[1]}`, `${x:-1}`. */
const known = /^(?:#?\w+|#\w+\[[@*]\]|\w+\[\$?\w+\]|\w+:?[-+=]\w*|[#?$!])$/

const refused = {
  type: 'ArithCommandSubst',
  command: "__refused '$(…) or ${…} in arithmetic' 'put it into a variable first'",
}

/** The text to expand before; undefined for another part of arithmetic. */
function valueOf({ type, command, content }: Shape): string | undefined {
  if (type === 'ArithCommandSubst' && command !== undefined && command !== refused.command) return `$(${command}\n)`
  return type === 'ArithBracedExpansion' && content !== undefined && !known.test(content)
    ? `"\${${content}}"`
    : undefined
}

function taken<Part>(node: Part, values: string[]): Part {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return node.map((one: unknown) => taken(one, values)) as Part
  const value = valueOf(node as Shape)
  if (value !== undefined) {
    values.push(value)
    return { type: 'ArithVariable', name: `__output${values.length}`, hasDollarPrefix: false } as Part
  }
  return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, taken(inner as unknown, values)])) as Part
}

function replace(node: object, type: string, inner: unknown, values: readonly string[]): void {
  const before = values.map((value, index) => `__output${index + 1}=${value}\n`).join('')
  const script = parse(`${before}${type === 'ArithmeticCommand' ? '((1))' : 'echo $((1))'}`)
  numberRedirections(script)
  const last = script.statements.at(-1)?.pipelines[0]?.commands[0] as unknown as {
    expression?: object
    args?: { parts: { expression: object }[] }[]
  }
  const target = type === 'ArithmeticCommand' ? last.expression : last.args?.[0]?.parts[0]?.expression
  Object.assign(target ?? {}, { expression: inner, originalText: '' })
  const { redirections = [] } = node as { readonly redirections?: readonly unknown[] }
  for (const key of Object.keys(node)) Reflect.deleteProperty(node, key)
  if (type === 'ArithmeticCommand') Object.assign(node, { type: 'Group', body: script.statements, redirections })
  else Object.assign(node, { type: 'CommandSubstitution', body: script, legacy: false })
}

import { parse } from '#just-bash'

import { type Node, walk } from '../state/nodes.ts'

interface Command {
  readonly type: string
  readonly body?: readonly Statement[]
}

interface Statement {
  readonly type: string
  readonly sourceText?: string
  readonly pipelines: readonly { readonly commands: readonly Command[] }[]
}

const refusal = "__refused '(( … ))' 'with a blank before an operator; leave the blank out, or use : $(( … ))'"

/** Reads `((i -= 3))` as arithmetic. just-bash parses this as nested subshells, like `( (i -= 3) )`; only the source text differs. */
export function readArithmeticCommands(ast: Parameters<typeof walk>[0]): void {
  walk(ast, (node: Node) => {
    if (node.type !== 'Statement') return
    const { sourceText = '', pipelines } = node as unknown as Statement
    if (!/(?<![$(])\(\(/.test(sourceText)) return
    const text = sourceText.trim()
    for (const [index, command] of pipelines.flatMap(({ commands }) => commands).entries()) {
      if (!isTwoSubshells(command)) continue
      replace(command, (index === 0 ? arithmeticOf(expressionAtStart(text)) : undefined) ?? commandOf(refusal))
    }
  })
}

function isTwoSubshells({ type, body = [] }: Command): boolean {
  const inner = body[0]?.pipelines[0]?.commands[0]
  return type === 'Subshell' && body.length === 1 && body[0]?.pipelines.length === 1 && inner?.type === 'Subshell'
}

function expressionAtStart(text: string): string | undefined {
  if (!text.startsWith('((')) return undefined
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '(') depth++
    else if (text[index] === ')' && --depth === 1) {
      const inner = text.slice(2, index)
      return text[index + 1] === ')' && !/["'`\\]/.test(inner) ? inner : undefined
    }
  }
  return undefined
}

const commandOf = (script: string) => parse(script).statements[0]?.pipelines[0]?.commands[0] as object

function arithmeticOf(text: string | undefined): object | undefined {
  return text === undefined
    ? undefined
    : { ...commandOf('((0))'), expression: { type: 'ArithmeticExpression', originalText: text } }
}

function replace(command: Command, by: object): void {
  const { redirections = [] } = command as { readonly redirections?: readonly unknown[] }
  for (const key of Object.keys(command)) Reflect.deleteProperty(command, key)
  Object.assign(command, by, { redirections })
}

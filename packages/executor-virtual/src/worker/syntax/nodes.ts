import { type Bash, parse } from '#just-bash'

export type Plugin = Parameters<Bash['registerTransformPlugin']>[0]

export interface Part {
  readonly type: string
  readonly value?: string
  readonly pattern?: unknown
  readonly parts?: readonly Part[]
}

export interface Word {
  readonly type: 'Word'
  readonly parts: readonly Part[]
}

export interface SimpleCommand {
  readonly type: 'SimpleCommand'
  name: Word | null
  args: Word[]
  readonly assignments?: readonly {
    readonly name?: string
    readonly value?: Word | null
    readonly array?: readonly Word[] | null
  }[]
}

export interface ForLoop {
  readonly type: 'For'
  readonly variable: string
  words: Word[] | null
  body: unknown[]
}

export interface FunctionDefinition {
  readonly type: 'FunctionDef'
  readonly name: string
}

export interface Statement {
  readonly type: 'Statement'
  readonly background: boolean
  readonly sourceText?: string
}

export interface PatternReplacement {
  readonly type: 'PatternReplacement'
  readonly replacement: Word | null
}

export type Node = SimpleCommand | ForLoop | FunctionDefinition | Statement | PatternReplacement

export function walk(node: unknown, see: (node: Node) => void): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const one of node) walk(one, see)
    return
  }
  if ('type' in node && typeof node.type === 'string') see(node as Node)
  for (const child of Object.values(node)) walk(child, see)
}

/** The text of a word without quotes and expansions. */
export function literal(word: Word | null | undefined): string | undefined {
  const [part] = word?.parts ?? []
  return word?.parts.length === 1 && part?.type === 'Literal' ? part.value : undefined
}

export function literalWord(value: string): Word {
  return { type: 'Word', parts: [{ type: 'SingleQuoted', value }] }
}

/** Makes `name words…` into `other name words…`. */
export function setLiteral(node: SimpleCommand, other: string): void {
  if (node.name !== null) node.args.unshift(node.name)
  node.name = { type: 'Word', parts: [{ type: 'Literal', value: other }] }
}

/** Makes a node into a group: statements before it, the node, statements after it. */
export function groupOf(node: object, before: readonly unknown[], inner: object, after: readonly unknown[]): void {
  const body = [...before, statementOf(inner), ...after]
  for (const key of Object.keys(node)) Reflect.deleteProperty(node, key)
  Object.assign(node, { type: 'Group', body, redirections: [] })
}

export function wordOf(text: string): Word {
  const command = parse(`: ${text}`).statements[0]?.pipelines[0]?.commands[0]
  const word = command !== undefined && 'args' in command ? (command.args[0] as Word | undefined) : undefined
  return word ?? literalWord(text)
}

function statementOf(command: unknown): unknown {
  const [statement] = parse(':').statements
  const pipeline = statement?.pipelines[0]
  return { ...statement, pipelines: [{ ...pipeline, commands: [command] }] }
}

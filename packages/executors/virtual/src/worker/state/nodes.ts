import { type Bash, parse } from '#just-bash'

export type Plugin = Parameters<Bash['registerTransformPlugin']>[0]

export interface WordPart {
  readonly type: string
  readonly value?: string
  readonly pattern?: string
  readonly parts?: readonly WordPart[]
  readonly parameter?: string
  readonly operation?: Operation | null
  readonly items?: readonly {
    readonly word?: Word
    readonly start?: string | number
    readonly end?: string | number
    readonly step?: number
  }[]
  readonly user?: string | null
}

export interface Operation {
  readonly type: string
  readonly word?: Word | null
  readonly operator?: string
  readonly star?: boolean
  readonly array?: string
  readonly checkEmpty?: boolean
  pattern?: Word | null
  readonly replacement?: Word | null
  readonly side?: 'prefix' | 'suffix'
  readonly greedy?: boolean
  readonly all?: boolean
  anchor?: 'start' | 'end' | null
}

export interface Word {
  readonly type: 'Word'
  readonly parts: readonly WordPart[]
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

export function literal(word: Word | null | undefined): string | undefined {
  const [part] = word?.parts ?? []
  return word?.parts.length === 1 && part?.type === 'Literal' ? part.value : undefined
}

export function literalText(word: Partial<WordPart> | null): string {
  return word?.value ?? (word?.parts ?? []).map(literalText).join('')
}

export function literalWord(value: string): Word {
  return { type: 'Word', parts: [{ type: 'SingleQuoted', value }] }
}

export function wordOf(text: string): Word {
  const command = parse(`: ${text}`).statements[0]?.pipelines[0]?.commands[0]
  const word = command !== undefined && 'args' in command ? (command.args[0] as Word | undefined) : undefined
  return word ?? literalWord(text)
}

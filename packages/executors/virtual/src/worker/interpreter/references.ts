import type { WordPart } from '../state/nodes.ts'
import type { Command, Interpreter, ShellState } from '../state/interpreter.ts'

const later: ReadonlySet<string> = new Set(['body', 'clauses', 'condition', 'elseBody'])

export async function replaced(value: unknown, change: (value: object) => unknown): Promise<unknown> {
  if (typeof value !== 'object' || value === null) return value
  const other = (await change(value)) as object
  const changed: Record<string, unknown> = {}
  for (const [key, one] of Object.entries(other)) {
    const ready = later.has(key) ? one : await replaced(one, change)
    if (ready !== one) changed[key] = ready
  }
  if (Object.keys(changed).length === 0) return other
  return Object.assign(Array.isArray(other) ? [...(other as unknown[])] : { ...other }, changed)
}

function named({ namerefs, env }: ShellState, name: string): string {
  let found = name
  for (let steps = 0; steps < 9 && namerefs?.has(found) === true; steps++) found = env.get(found) ?? found
  return found
}

interface Named {
  readonly type?: string
  readonly parameter?: string
  readonly operation?: { readonly type: string; readonly array?: string } | null
  readonly name?: unknown
  readonly array?: unknown
  readonly append?: boolean
  readonly operator?: string
  readonly operand?: { readonly parts: readonly WordPart[] }
}

/** Resolves names of `declare -n` in a command, because just-bash finds a list only by its own name. */
export async function withReferences({ ctx: { state } }: Interpreter, command: Command): Promise<Command> {
  if (!state.namerefs?.size || command.type === 'FunctionDef') return command
  return (await replaced(command, (value) => {
    const { type, parameter = '', operation, name, array, append, operator, operand } = value as Named
    if (operator === '-v' && operand !== undefined) {
      const parts = operand.parts.map((part) => ({
        ...part,
        ...(part.value && { value: elementOf(state, part.value) }),
      }))
      return { ...value, operand: { ...operand, parts } }
    }
    if (type === 'ParameterExpansion') {
      const list = operation?.type === 'ArrayKeys' ? (operation.array ?? '') : ''
      if (parameter.includes('[')) return { ...value, parameter: elementOf(state, parameter) }
      return state.namerefs?.has(list) ? { ...value, operation: { ...operation, array: named(state, list) } } : value
    }
    if (type !== 'Assignment' || typeof name !== 'string') return value
    const isList = name.includes('[') || append === true || Array.isArray(array)
    return isList ? { ...value, name: elementOf(state, name) } : value
  })) as Command
}

function elementOf(state: ShellState, text: string): string {
  const [, base = '', subscript = ''] = /^(\w+)(\[.*)?$/s.exec(text) ?? []
  return state.namerefs?.has(base) ? named(state, base) + subscript : text
}

export function referredWords(
  { ctx: { state } }: Interpreter,
  name: string,
  words: readonly string[],
): readonly string[] {
  if (!state.namerefs?.size || !/^(?:read|mapfile|readarray|printf|unset|test|\[)$/.test(name)) return words
  const isValued = /^(?:printf|test|\[)$/.test(name)
  return words.map((word, index) => (isValued && words[index - 1] !== '-v' ? word : elementOf(state, word)))
}

import { literal, type Word } from '../state/nodes.ts'
import type { Command, ShellState } from '../state/interpreter.ts'

/** Expansions that replace an empty value with another text. */
const replacing = /^(?:DefaultValue|AssignDefault|ErrorIfUnset|UseAlternative|Length)$/

/** Finds `rm -rf "$x"/*` with an empty `$x`. The script means a directory, but the command would remove everything. */
export function emptyMove(
  command: Extract<Command, { readonly type: 'SimpleCommand' }>,
  { env }: ShellState,
): { readonly subject: string; readonly reason: string } | undefined {
  const name = literal(command.name as Word | null)
  if (name !== 'rm' && name !== 'mv') return undefined
  for (const { parts } of command.args as readonly Word[]) {
    const flat = parts.flatMap((part) => (part.type === 'DoubleQuoted' ? (part.parts ?? []) : [part]))
    const end = flat.findIndex(
      ({ type, parameter = '', operation }) =>
        type !== 'ParameterExpansion' ||
        !/^\w+$/.test(parameter) ||
        replacing.test(operation?.type ?? '') ||
        (env.get(parameter) ?? '') !== '',
    )
    const [slash, next] = end > 0 ? flat.slice(end) : []
    if (slash?.type !== 'Literal' || !/^\/[^/]*\/*$/.test(slash.value ?? '') || next?.type !== 'Glob') continue
    const variable = flat[0]?.parameter ?? ''
    return {
      subject: `${name} of /*`,
      reason: `\`$${variable}\` is empty; set it first, or write \`\${${variable}:?}\``,
    }
  }
  return undefined
}

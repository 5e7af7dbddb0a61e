import type { Command, ShellState } from './interpreter.ts'

interface Part {
  readonly type: string
  readonly value?: string
  readonly parts?: readonly Part[]
  readonly parameter?: string
  readonly operation?: { readonly type: string } | null
}

const movers: ReadonlySet<string> = new Set(['rm', 'mv'])
/** With these a variable that is empty gives another text. */
const replacing: ReadonlySet<string> = new Set([
  'DefaultValue',
  'AssignDefault',
  'ErrorIfUnset',
  'UseAlternative',
  'Length',
])

/** Finds `rm -rf "$x"/*` where `$x` is empty: the script means a directory, and would remove everything. */
export function emptyMove(
  command: Extract<Command, { readonly type: 'SimpleCommand' }>,
  { env }: ShellState,
): { readonly subject: string; readonly reason: string } | undefined {
  const [name] = (command.name?.parts ?? []) as readonly Part[]
  if (name?.type !== 'Literal' || !movers.has(name.value ?? '')) return undefined
  for (const { parts } of command.args as readonly { readonly parts: readonly Part[] }[]) {
    const flat = parts.flatMap((part) => (part.type === 'DoubleQuoted' ? (part.parts ?? []) : [part]))
    const variables: string[] = []
    for (const { type, parameter = '', operation } of flat) {
      if (type !== 'ParameterExpansion' || !/^\w+$/.test(parameter)) break
      if (replacing.has(operation?.type ?? '') || (env.get(parameter) ?? '') !== '') break
      variables.push(parameter)
    }
    if (variables.length === 0) continue
    const [slash, ...rest] = flat.slice(variables.length)
    if (slash?.type !== 'Literal' || !/^\/[^/]*\/*$/.test(slash.value ?? '') || rest[0]?.type !== 'Glob') continue
    return {
      subject: `${name.value} of /*`,
      reason: `\`$${variables[0]}\` is empty; set it first, or write \`\${${variables[0]}:?}\``,
    }
  }
  return undefined
}

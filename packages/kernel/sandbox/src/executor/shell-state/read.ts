import type { ShellState } from '@ws/core'

import { type Mark, separatorOf } from './script.ts'

/** Maximum bytes of a kept state. */
export const mostState = 256 * 1024

const double = String.raw`"[^"\\]*(?:\\[^][^"\\]*)*"`
const ansi = String.raw`\$'[^'\\]*(?:\\[^][^'\\]*)*'`
const element = String.raw`\[(?:${double}|${ansi}|[^\]"$]*)\]=(?:${double}|${ansi}) ?`
const entries = {
  bash: new RegExp(
    String.raw`(declare -[-a-zA-Z]+ )([A-Za-z_]\w*)(?:=(?:${double}|${ansi}|\((?:${element})*\)))?\n`,
    'y',
  ),
  sh: /((?:export |readonly )?)([A-Za-z_]\w*)(?:=(?:'[^']*'|"[^"]*"|\\[^]|[^\s'"\\])*)?\n/y,
}
/** Variables that a shell computes, or that belong to the command line itself. */
const own =
  /^(?:BASH(?!_ENV$).*|SHELLOPTS|PWD|_|__ws|S?RANDOM|SECONDS|EPOCH.*|LINENO|FUNCNAME|PIPESTATUS|PPID|E?UID|GROUPS|DIRSTACK|HISTCMD|COMP_.*|SHLVL)$/

interface Variable {
  readonly name: string
  readonly code: string
}

/** Returns the variables by kind and name. `undefined` for another text than a shell prints. */
function variablesIn(text: string): ReadonlyMap<string, Variable> | undefined {
  const pattern = text.startsWith('declare ') ? entries.bash : entries.sh
  const found = new Map<string, Variable>()
  pattern.lastIndex = 0
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text)
    if (match === null) return undefined
    const [code, kind = '', name = ''] = match
    if (!own.test(name)) found.set(pattern === entries.bash ? name : kind + name, { name, code })
  }
  return found
}

/**
 * Reads the report of a shell: its directory, and the difference between its variables now and at the start.
 * @param before the variables at the start; both texts have one character for each byte
 */
export function readReport(before: string, report: string, mark: Mark): ShellState | undefined {
  const between = separatorOf(mark)
  const [directory, length, ...rest] = report.split(between)
  if (directory === undefined || length === undefined) return undefined
  // A command can take builtins away from its shell.
  const isLike = rest[0]?.startsWith('declare ') === before.startsWith('declare ')
  const data = isLike ? dataOf(variablesIn(before), rest, { between, length }) : undefined
  // Without a count, the executor takes the whole script as one argument.
  const fits = data !== undefined && data.length <= (length === '' ? mostState / 4 : mostState)
  // A full stop follows the line end, which a substitution would drop.
  return { directory: Buffer.from(directory.slice(0, -2), 'latin1').toString('utf8'), ...(fits && { data }) }
}

function dataOf(
  before: ReturnType<typeof variablesIn>,
  parts: readonly string[],
  { between, length }: { readonly between: string; readonly length: string },
): string | undefined {
  const [variables = '', functions = '', shopt = '', aliases = '', options = '', mask] = parts
  const after = variablesIn(variables)
  // Output of a background process may lie within the report.
  const isWhole = length === '' || parts.join(between).length === Number(length)
  if (mask === undefined || !isWhole || before === undefined || after === undefined) return undefined
  const changed = [...after].filter(([key, { code }]) => before.get(key)?.code !== code).map(([, variable]) => variable)
  const gone = [...before].filter(([key]) => !after.has(key)).map(([, variable]) => variable)
  const isBash = variables.startsWith('declare ')
  const cleared = (isBash ? [...changed, ...gone] : gone).map(({ name }) => name)
  const named = isBash ? aliases : aliases.replaceAll(/^(?=[^\s'=]+=)/gm, 'alias ')
  const lines = [
    ...(cleared.length > 0 ? [`unset -v ${cleared.join(' ')}`] : []),
    ...changed.map(({ code }) => code.trimEnd()),
  ]
  // Functions need the patterns of `extglob`. Aliases come last: they would replace words of the other lines.
  const rest = [...(isBash ? ['shopt -s extglob'] : []), functions, shopt, options, mask, 'unalias -a', named]
  return `${lines.join('\n')}\0${rest.join('\n')}`
}

/** Returns the code that makes a state. @param keeps for plain variables only, by their name */
export function stateCode(data: string, keeps?: (name: string) => boolean): string {
  const [variables = '', rest = ''] = data.split('\0')
  if (keeps === undefined) return `${variables}\n${rest}`
  // Text without expansions, whatever a program reported.
  const plain = variables.matchAll(/^declare -[-x] ([A-Za-z_]\w*)="(?:[^"\\$`]|\\["\\$`])*"$/gm)
  return [...plain].flatMap(([code, name = '']) => (keeps(name) ? [code] : [])).join('\n')
}

import { parse } from '#just-bash'

import { type ForLoop, groupOf, literal, type Node, type Part, type SimpleCommand, type Word, wordOf } from './nodes.ts'

/** Rewrites nodes that just-bash reads otherwise than bash, but that other words can express. */
export function repair(node: Node): void {
  if (node.type === 'Statement') repairDeclaration(node as unknown as OneCommand)
  // `for x; do` splits what is quoted in "$@".
  if (node.type === 'For' && node.words === null) (node as ForLoop).words = [wordOf('"$@"')]
  if ('parts' in node) keepDefaults(node as unknown as Word)
  if (node.type === 'SimpleCommand') {
    splitName(node)
    separateAssignments(node)
    countWords(node)
  }
}

/** `"$@"` and `$command` may be several words; just-bash takes them for one word in the place of the program. */
function splitName(node: SimpleCommand): void {
  const text = JSON.stringify(node.name?.parts ?? [])
  if (node.name === null || !/"type":"(?:ParameterExpansion|CommandSubstitution)"/.test(text)) return
  node.args.unshift(node.name)
  // An empty name: the next word is the program, as in bash.
  node.name = wordOf('${__nothing-}')
}

const defaults: ReadonlySet<string> = new Set(['DefaultValue', 'AssignDefault', 'ErrorIfUnset', 'UseAlternative'])

/** `set -u` overlooks the default in `"${x:-default}"` where that is the whole text in quotes. */
function keepDefaults({ parts: [part, ...others] }: Word): void {
  const inner = part?.type === 'DoubleQuoted' ? part.parts : undefined
  const [expansion] = inner ?? []
  if (others.length > 0 || inner?.length !== 1 || expansion?.type !== 'ParameterExpansion') return
  const { parameter, operation } = expansion as Part & { readonly parameter: string; readonly operation?: unknown }
  if (
    !defaults.has((operation as { readonly type: string } | null | undefined)?.type ?? '') ||
    /^[@*]$|\[[@*]\]$/.test(parameter)
  )
    return
  ;(inner as Part[]).unshift({ type: 'Literal', value: '' })
}

interface OneCommand {
  readonly sourceText?: string
  readonly pipelines: readonly { readonly commands: SimpleCommand[]; readonly negated?: boolean }[]
}

const declaration = /^(declare|local|typeset|export|readonly)((?:\s+-[a-zA-Z]+)*)\s+([A-Za-z_]\w*)(\+?=\([^]*\))$/

/** `local a=("$@")` makes one element of all words: it becomes `local a; a=("$@")`. */
function repairDeclaration({ sourceText = '', pipelines }: OneCommand): void {
  const [, command = '', options = '', name = '', value = ''] = declaration.exec(sourceText.trim()) ?? []
  const [pipeline, ...others] = pipelines
  const [node] = pipeline?.commands ?? []
  // The key of `[$k]=v` is expanded in a declaration only.
  if (/A/.test(options) && /\[[^\]]*\$/.test(value)) return
  if (name === '' || others.length > 0 || pipeline?.commands.length !== 1 || node?.type !== 'SimpleCommand') return
  let assignment: readonly unknown[]
  try {
    assignment = parse(`${name}${value}`).statements
  } catch {
    return
  }
  if (!isOneArray(assignment)) return
  const declared = parse(`${command}${options} ${name}`).statements
  const readOnly = command === 'readonly' || /r/.test(options) || command === 'export'
  const body = readOnly ? [...assignment, ...declared] : [...declared, ...assignment]
  for (const key of Object.keys(node)) Reflect.deleteProperty(node, key)
  Object.assign(node, { type: 'Group', body, redirections: [] })
}

function isOneArray(statements: readonly unknown[]): boolean {
  const [statement, ...more] = statements as readonly OneCommand[]
  const [node] = statement?.pipelines[0]?.commands ?? []
  const [assignment, ...others] = node?.assignments ?? []
  return more.length === 0 && node?.name === null && others.length === 0 && (assignment?.array ?? null) !== null
}

/** `IFS=, a=($x)` is one assignment after the other; just-bash splits before it has the new IFS. */
function separateAssignments(node: SimpleCommand): void {
  const { name, assignments = [] } = node
  if (name !== null || assignments.length < 2 || !assignments.some(({ array }) => (array ?? null) !== null)) return
  const [last, ...before] = [...assignments].reverse()
  const statements = before.reverse().map((assignment) => {
    const [statement] = parse('x=1').statements
    const [command] = statement?.pipelines[0]?.commands ?? []
    Object.assign(command ?? {}, { assignments: [assignment] })
    return statement
  })
  groupOf(node, statements, { ...node, assignments: [last] }, [])
}

/** True where a word is one word, whatever it expands to. */
function isOneWord({ parts }: Word): boolean {
  return parts.every(
    ({ type, parts: inner = [] }) =>
      ['Literal', 'SingleQuoted', 'Escaped', 'TildeExpansion'].includes(type) ||
      (type === 'DoubleQuoted' &&
        !inner.some((part) => /^@$|\[@\]/.test(String((part as { parameter?: unknown }).parameter)))),
  )
}

/** `cd` with two directories fails in bash; in just-bash it goes to the first, and commands after it change that one. */
function countWords(node: SimpleCommand): void {
  const name = literal(node.name)
  if ((name !== 'cd' && name !== 'pushd') || (node.assignments ?? []).length > 0) return
  const options = node.args.findIndex((word) => !/^-./.test(literal(word) ?? ''))
  const words = options === -1 ? [] : node.args.slice(options)
  const [only, ...others] = words
  if (only === undefined || (others.length === 0 && isOneWord(only))) return
  const given = node.args.slice(0, options).map((word) => literal(word) ?? '')
  const body = parse(
    `__words=(_); if [ "\${#__words[@]}" -gt 1 ]; then { echo 'bash: ${name}: too many arguments' >&2; false; }; else ${[name, ...given].join(' ')} "\${__words[@]}"; fi`,
  ).statements
  const [first] = body as unknown as readonly OneCommand[]
  const [assignment] = first?.pipelines[0]?.commands[0]?.assignments ?? []
  Object.assign(assignment ?? {}, { array: words })
  const { redirections = [] } = node as { readonly redirections?: readonly unknown[] }
  for (const key of Object.keys(node)) Reflect.deleteProperty(node, key)
  Object.assign(node, { type: 'Group', body, redirections })
}

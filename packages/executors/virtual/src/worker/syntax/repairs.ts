import { parse } from '#just-bash'

import { type ForLoop, type Node, type WordPart, type SimpleCommand, type Word, wordOf } from '../state/nodes.ts'

/** Rewrites a node that just-bash reads in another way than bash, if another form has the right meaning. */
export function repair(node: Node): void {
  if (node.type === 'Statement') repairDeclaration(node as unknown as OneCommand)
  // In just-bash, `for x; do` splits quoted parts of "$@".
  if (node.type === 'For' && node.words === null) (node as ForLoop).words = [wordOf('"$@"')]
  const { word } = (node as unknown as WordPart).operation ?? {}
  // just-bash expands a tilde after each colon. bash does so only in an assignment.
  if (word) Object.assign(word, { parts: word.parts.map((part, index) => (index > 0 ? withoutTilde(part) : part)) })
  if ('parts' in node) keepDefaults(node as unknown as Word)
}

const withoutTilde = (part: WordPart): WordPart =>
  part.type === 'TildeExpansion' ? { type: 'Literal', value: `~${part.user ?? ''}` } : part

const defaults: ReadonlySet<string> = new Set(['DefaultValue', 'AssignDefault', 'ErrorIfUnset', 'UseAlternative'])

/** Keeps the default in `"${x:-default}"`: with `set -u`, just-bash ignores a default that is the whole quoted text. */
export function keepDefaults({ parts: [part, ...others] }: Word): void {
  const inner = part?.type === 'DoubleQuoted' ? part.parts : undefined
  const [expansion] = inner ?? []
  if (others.length > 0 || inner?.length !== 1 || expansion?.type !== 'ParameterExpansion') return
  const { parameter = '', operation } = expansion
  if (!defaults.has(operation?.type ?? '') || /^[@*]$|\[[@*]\]$/.test(parameter)) return
  ;(inner as WordPart[]).unshift({ type: 'Literal', value: '' })
}

interface OneCommand {
  readonly sourceText?: string
  readonly pipelines: readonly { readonly commands: SimpleCommand[]; readonly negated?: boolean }[]
}

const declaration = /^(declare|local|typeset|export|readonly)((?:\s+-[a-zA-Z]+)*)\s+([A-Za-z_]\w*)(\+?=\([^]*\))$/

/** Rewrites `local a=("$@")` as `local a; a=("$@")`: just-bash would join all words in one element. */
function repairDeclaration({ sourceText = '', pipelines }: OneCommand): void {
  const [, command = '', options = '', name = '', value = ''] = declaration.exec(sourceText.trim()) ?? []
  const [pipeline, ...others] = pipelines
  const [node] = pipeline?.commands ?? []
  // just-bash expands the key of `[$k]=v` only in a declaration.
  if (/A/.test(options) && /\[[^\]]*\$/.test(value)) return
  if (name === '' || others.length > 0 || pipeline?.commands.length !== 1 || node?.type !== 'SimpleCommand') return
  let assignment: readonly unknown[]
  try {
    assignment = parse(`${name}${value}`).statements
  } catch {
    return // not an assignment
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

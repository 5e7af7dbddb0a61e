import { parse } from '#just-bash'

import type { ScriptTool } from '../call.ts'
import { literal, type Node, type WordPart, walk, type Word } from '../state/nodes.ts'
import { bash, scriptOf } from './bash.ts'

/** The command `sh`, which is dash. Refuses scripts that bash and dash would run differently. */
export const sh: ScriptTool = async (call) => {
  const script = await scriptOf(call)
  const odd = script === undefined ? undefined : firstOddity(script)
  if (odd !== undefined) call.host.refuse(`sh: ${odd}`, 'sh is not bash; use bash')
  return bash(call)
}

const parts: Readonly<Record<string, string>> = {
  ArithmeticCommand: '(( … ))',
  BraceExpansion: '{…,…}',
  CaseModification: '${…^}',
  ConditionalCommand: '[[ … ]]',
  CStyleFor: 'for ((…))',
  Indirection: '${!…}',
  PatternReplacement: '${…/…}',
  ProcessSubstitution: '<(…)',
  Substring: '${…:…}',
  Transform: '${…@…}',
}

const missing = new Set('builtin declare dirs let mapfile popd pushd readarray shopt source typeset'.split(' '))
const unset = new Set(
  'BASHPID BASH_SOURCE BASH_VERSION EUID FUNCNAME HOSTNAME HOSTTYPE MACHTYPE OSTYPE RANDOM SECONDS UID'.split(' '),
)

interface Shape {
  readonly type: string
  readonly operator?: string
  readonly parameter?: string
  readonly sourceText?: string
  readonly append?: boolean
  readonly array?: unknown
  readonly direction?: string
}

function firstOddity(script: string): string | undefined {
  let odd: string | undefined
  try {
    walk(parse(script), (node) => (odd ??= oddityOf(node)))
  } catch {
    return undefined // the shell reports the syntax error
  }
  return odd
}

function oddityOf(node: Node): string | undefined {
  const { type, operator = '', parameter = '', sourceText = '', append, array } = node as unknown as Shape
  if (parts[type] !== undefined) return parts[type]
  if (type === 'Redirection' && ['<<<', '&>', '&>>'].includes(operator)) return operator
  if (type === 'Assignment' && (append === true || (array ?? null) !== null)) return append === true ? '+=' : 'an array'
  if (type === 'ParameterExpansion' && (unset.has(parameter) || parameter.includes('['))) return `$${parameter}`
  if (type === 'ArithBinary' && operator === '**') return operator
  if (type === 'Statement' && /^function\s|\$'/.test(sourceText))
    return sourceText.startsWith('f') ? 'function' : "$'…'"
  if (node.type !== 'SimpleCommand') return undefined
  const name = literal(node.name)
  const words = node.args.map(wordText)
  if (name !== undefined && missing.has(name)) return name
  if ((name === '[' || name === 'test' || wordText(node.name) === '[') && words.some((word) => word === '=='))
    return `${name ?? '['} ==`
  if (name === 'read') return words.find((word) => /^-.*[^-rp]/.test(word))
  if (name === 'echo') return words.find((word) => /^-[neE]*[eE]/.test(word) || word.includes('\\'))
  if (name === 'printf') return words.find((word) => /%(?:q|\()/.test(word))
  if (name === 'set') return words.find((word) => word === 'pipefail')
  return undefined
}

function wordText(word: Word | null): string {
  const all = (given: readonly WordPart[]): string =>
    given
      .map(({ value, pattern, parts: inner }) =>
        inner === undefined ? (value ?? (typeof pattern === 'string' ? pattern : '')) : all(inner),
      )
      .join('')
  return all(word?.parts ?? [])
}

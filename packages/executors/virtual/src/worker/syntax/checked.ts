import { type CustomCommand, defineCommand, parse } from '#just-bash'

import type { Session } from '../state/session.ts'
import { readArithmeticCommands } from './arithmetic-command.ts'
import { rewriteArithmetic } from './arithmetic.ts'
import { keepInFunctions } from './leaving.ts'
import { markInherited } from './inherited.ts'
import { markPatterns } from './patterns.ts'
import { repair } from './repairs.ts'
import { lastWordProblem, unlikeBash } from './unlike.ts'
import { isolatePipelines } from './isolated.ts'
import { literal, literalWord, type Node, walk, wordOf } from '../state/nodes.ts'

type Script = ReturnType<typeof parse>

const standIn = '__refused'

/** Builtins that just-bash lacks, or accepts without effect. */
const refusedBuiltins: Readonly<Record<string, string>> = {
  ulimit: 'limits are those of the executor',
  umask: 'modes of files cannot be chosen here',
  jobs: 'there are no jobs here',
  fg: 'there are no jobs here',
  bg: 'there are no jobs here',
  disown: 'there are no jobs here',
  kill: 'there are no processes here',
  times: 'there are no processes here',
  coproc: 'there are no processes here',
  suspend: 'there are no processes here',
}

/** Rewrites forms that just-bash reads in another way than bash, and refuses a script with other differences. */
export function checkSyntax(ast: Script): Script {
  readArithmeticCommands(ast)
  rewriteArithmetic(ast)
  keepInFunctions(ast)
  const nodes: Node[] = []
  walk(ast, (node) => nodes.push(node))
  const problem =
    lastWordProblem(nodes) ?? jobsProblem(nodes) ?? firstOf(nodes, (node) => problemOf(node) ?? unlikeBash(node))
  if (problem !== undefined) return { ...ast, statements: refusing(problem) }
  nodes.forEach(markPatterns)
  nodes.forEach(repair)
  markInherited(ast)
  nodes.forEach(check)
  isolatePipelines(ast)
  return ast
}

function firstOf(nodes: readonly Node[], find: (node: Node) => Problem | undefined): Problem | undefined {
  for (const node of nodes) {
    const problem = find(node)
    if (problem !== undefined) return problem
  }
  return undefined
}

const jobCommands: ReadonlySet<string> = new Set(['bg', 'coproc', 'disown', 'fg', 'jobs', 'kill'])

/** Refuses commands for background jobs: a job here ends before the next command begins, and receives no signal. */
function jobsProblem(nodes: readonly Node[]): Problem | undefined {
  if (!nodes.some((node) => node.type === 'Statement' && node.background)) return undefined
  return firstOf(nodes, (node) => {
    const name = node.type === 'SimpleCommand' ? (literal(node.name) ?? '') : ''
    return jobCommands.has(name)
      ? { subject: `& with ${name}`, reason: 'a command in the background runs to its end at once; leave `&` out' }
      : undefined
  })
}

export interface Problem {
  readonly subject: string
  readonly reason: string
}

/** Matches `$'…'` with bytes above 127, which just-bash treats as characters. */
const bytesInQuotes = /\$'(?:[^'\\]|\\[^])*?\\(?:x[89a-fA-F][0-9a-fA-F]|[2-3][0-7]{2})/

/** Matches `"$x""y"`, which just-bash reads as `$xy`. */
const joinedQuotes = /"[^"'\n]*\$[A-Za-z_]\w*""\w|[\w})"]""\$(?:@|\{@|\{\w+\[@)|\$(?:@|\{(?:\w+\[@|@)[^}]*\})""["$]/

/** Matches `$x{a,b}`, which bash reads as `$xa $xb`, and `{$x,b}c`, which bash reads as `$xc bc`. */
const bracesAtName = /\$[A-Za-z_]\w*(?:\{[^{}]*(?:,|\.\.)|(?:,[^{}]*)?\}[\w{])/

function problemOf(node: Node): Problem | undefined {
  if (node.type === 'Statement') {
    if (joinedQuotes.test(node.sourceText ?? ''))
      return { subject: '"$x""y"', reason: 'two quotes without a blank are read as one; write "${x}y"' }
    if (bracesAtName.test(node.sourceText ?? '') && JSON.stringify(node).includes('"BraceExpansion"'))
      return { subject: '$x{…}', reason: 'the braces are part of the name; write ${x}{…}' }
    if (/\[\$'[!^]/.test(node.sourceText ?? ''))
      return { subject: "[$'…']", reason: 'a quoted sign in brackets; write it as [\\!]' }
    if (bytesInQuotes.test(node.sourceText ?? '')) return { subject: "$'…'", reason: 'bytes as escapes; use printf' }
  }
  if (
    node.type === 'PatternReplacement' &&
    node.replacement?.parts.some(({ value, pattern }) => `${value}${String(pattern)}`.includes('&')) === true
  )
    return { subject: '${…/…/…&…}', reason: '`&` stands for what was found; quote it, or use sed' }
  if (node.type === 'SimpleCommand' && literal(node.name) === 'shopt') {
    const odd = node.args.map(literal).find((name) => name !== undefined && notCompared.has(name))
    if (odd !== undefined) return { subject: `shopt ${odd}`, reason: 'it was not compared with bash' }
  }
  return undefined
}

const notCompared = new Set([
  'extglob',
  'failglob',
  'globskipdots',
  'globstar',
  'lastpipe',
  'nocaseglob',
  'nocasematch',
  'xpg_echo',
])

function refusing({ subject, reason }: Problem): ReturnType<typeof parse>['statements'] {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return parse(`${standIn} ${quote(subject)} ${quote(reason)}`).statements
}

function check(node: Node): void {
  const name = node.type === 'SimpleCommand' ? literal(node.name) : undefined
  const reason = refusedBuiltins[name ?? '']
  if (node.type === 'SimpleCommand' && name !== undefined && reason !== undefined)
    Object.assign(node, { name: wordOf(standIn), args: [literalWord(name), literalWord(reason)] })
}

export function refusedCommand(session: Session): CustomCommand {
  return defineCommand(standIn, async ([subject = '', reason = '']) => session.refuse(subject, reason), {
    trusted: false,
  })
}

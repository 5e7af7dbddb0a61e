import type { SimpleCommand, CommandRule } from '@ws/core/executor'
import type { Command, Word } from 'unbash'

import { newBudget, parseScript, UnreadableCommand, visit } from './parse.ts'
import type { ParseBudget } from './parse.ts'
import { staticText } from './pieces.ts'
import { findWrapped, shells, wrappers } from './wrappers.ts'

/** Maximum nesting of command lines inside command lines (`sh -c "sh -c …"`). */
const deepest = 16

interface CommandParts {
  readonly words: readonly (string | undefined)[]
  readonly text: string
  readonly wrappers: readonly string[]
}

/**
 * Returns every simple command of a line, also inside pipelines, loops, functions, here-documents and substitutions.
 * After a wrapper (`env`, `sudo`, `xargs`, `sh -c` and the like) comes its inner command. Does not resolve functions, aliases and PATH.
 * The parser for `rules.denyCommand`.
 * @throws UnreadableCommand for an ambiguous or too long line ({@link parseScript}), and for shells with their own syntax (fish)
 */
export function parseCommands(line: string, options: Parameters<CommandRule['parser']>[1] = {}): SimpleCommand[] {
  if (/(?:^|\/)(?:fish|t?csh|pwsh|nu)$/.test(options.shell ?? '')) {
    throw new UnreadableCommand('the shell has a syntax of its own')
  }
  const found: Collected = { commands: [], budget: newBudget() }
  collect(line, [], found, 0)
  return found.commands
}

interface Collected {
  readonly commands: SimpleCommand[]
  readonly budget: ParseBudget
}

function collect(line: string, around: readonly string[], found: Collected, depth: number): void {
  if (depth > deepest) throw new UnreadableCommand('lines inside of lines, nested too deeply')
  visit(parseScript(line, found.budget), (node) => {
    if (node.type !== 'Command' || node.name === undefined) return
    const words = wordsOf(node)
    const texts = [node.name, ...node.args].map(({ text }) => text)
    add({ words, text: texts.join(' '), wrappers: around }, found, depth)
  })
}

function wordsOf(command: Command): (string | undefined)[] {
  const words: (string | undefined)[] = command.name === undefined ? [] : [staticText(command.name)]
  for (const argument of command.args)
    words.push(argument.type === 'Word' ? staticText(argument) : assignmentText(argument))
  return words
}

function assignmentText(assignment: Extract<Command['args'][number], { type: 'Assignment' }>): string | undefined {
  if (assignment.value.type === 'ArrayValue') return undefined
  const value = staticText(assignment.value as Word)
  return value === undefined ? undefined : `${assignment.name}${assignment.append ? '+' : ''}=${value}`
}

function add({ words, text, wrappers: around }: CommandParts, found: Collected, depth: number): void {
  if (depth > deepest) throw new UnreadableCommand('commands inside of commands, nested too deeply')
  const [path, ...rest] = words
  const program = path === undefined ? undefined : baseName(path)
  found.commands.push({ program, path, arguments: rest, text, wrappers: around })
  if (program === undefined) return
  const inside = [...around, program]
  const inner = (next: readonly (string | undefined)[]) =>
    add({ words: next, text, wrappers: inside }, found, depth + 1)
  const line = (code: string | undefined) => {
    if (code === undefined) inner([undefined])
    else collect(code, inside, found, depth + 1)
  }
  if (shells.has(program)) shellLine(rest, line)
  else if (program === 'eval') line(joined(rest))
  else if (program === 'trap') trapLine(rest, line)
  else if (program === 'alias') aliasLines(rest, line)
  else if (program === 'find') for (const started of startedByFind(rest)) inner(started)
  else if (program === 'su' || program === 'runuser' || program === 'script')
    optionLine(rest, ['-c', '--command'], line)
  else if (program === 'env' && rest.some((word) => /^(?:-[a-zA-Z0]*S|--split-string)/.test(word ?? '')))
    inner([undefined])
  else if (program === 'command' && rest.some((word) => word === '-v' || word === '-V')) return
  else if (Object.hasOwn(wrappers, program)) wrapped(program, rest, inner, line)
}

/** Returns `rm` for `/bin/rm`. In zsh, `=rm` means the path of `rm`. */
function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return name.length > 1 && name.startsWith('=') ? name.slice(1) : name
}

function joined(words: readonly (string | undefined)[]): string | undefined {
  return words.every((word) => word !== undefined) ? words.join(' ') : undefined
}

type Inner = (words: readonly (string | undefined)[]) => void
type Line = (code: string | undefined) => void

function wrapped(program: string, rest: readonly (string | undefined)[], inner: Inner, line: Line): void {
  const wrapper = wrappers[program]
  if (wrapper === undefined) return
  if (program === 'flock') {
    const at = rest.findIndex((word) => word === '-c' || word === '--command')
    if (at >= 0) return line(rest[at + 1])
  }
  const found = findWrapped(wrapper, rest)
  if (found === 'none') return
  if (found === 'unknown') return inner([undefined])
  const words = rest.slice(found.at)
  // watch joins its arguments to one line, and runs that line in a shell.
  if (program === 'watch' && !rest.slice(0, found.at).includes('-x')) return line(joined(words))
  inner(wrapper.adds ? [...words, undefined] : words)
}

function shellLine(rest: readonly (string | undefined)[], line: Line): void {
  let asked = false
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index]
    // An unknown word could be `-c`.
    if (word === undefined) return line(undefined)
    if (word === '--') return asked ? line(rest[index + 1]) : undefined
    if (word.startsWith('--')) {
      if (word === '--rcfile' || word === '--init-file') index++
      continue
    }
    if (!/^[-+]./.test(word)) return asked ? line(word) : undefined
    if (/^-[a-zA-Z]*c/.test(word)) asked = true
    if (/^[-+][a-zA-Z]*[oO]$/.test(word)) index++
  }
}

function trapLine(rest: readonly (string | undefined)[], line: Line): void {
  const words = rest[0] === '--' ? rest.slice(1) : rest
  const [action, ...conditions] = words
  if (conditions.length === 0 || action === '-' || action === '') return
  if (action?.startsWith('-') === true) return
  line(action)
}

function aliasLines(rest: readonly (string | undefined)[], line: Line): void {
  for (const word of rest) {
    if (word === undefined) line(undefined)
    else if (word.includes('=')) line(word.slice(word.indexOf('=') + 1))
  }
}

function optionLine(rest: readonly (string | undefined)[], names: readonly string[], line: Line): void {
  rest.forEach((word, index) => {
    if (word === undefined) return
    const name = names.find((candidate) => word === candidate || word.startsWith(`${candidate}=`))
    if (name !== undefined) line(word === name ? rest[index + 1] : word.slice(name.length + 1))
  })
}

const findActions = new Set(['-exec', '-execdir', '-ok', '-okdir'])

/** Returns the commands of `find -exec … ;`: the words up to `;` or `+`. With an unknown word, the end of a command is unknown. */
function startedByFind(rest: readonly (string | undefined)[]): (readonly (string | undefined)[])[] {
  const started: (readonly (string | undefined)[])[] = []
  for (let index = 0; index < rest.length; index++) {
    if (!findActions.has(rest[index] ?? '')) continue
    let end = index + 1
    while (end < rest.length && rest[end] !== ';' && rest[end] !== '+') end++
    started.push(rest.slice(index + 1, end).map((word) => (word?.includes('{}') ? undefined : word)))
    index = end
  }
  return started
}

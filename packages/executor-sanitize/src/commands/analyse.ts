import {
  type Command,
  type CommandNode,
  parseScript,
  type Redirection,
  type Script,
  staticText,
  type Statement,
  type SyntaxNode,
  UnreadableCommand,
  visit,
  type Word,
} from '@ws/command-parser'

import { refuseDangerous } from '../programs/starters.ts'
import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import type { Argument, Invocation } from '../invocation/invocation.ts'
import { judgeTest, judgeText } from './conditions.ts'
import {
  type AnalysisContext,
  joinDirectories,
  type Outcome,
  silent,
  together,
} from '../invocation/analysis-context.ts'
import { judgeRedirections } from './redirections.ts'
import { callOf, judgeCommand } from './simple-command.ts'
import type { Value } from '../invocation/values.ts'
import { judgeArithmetic, valueOf } from './words.ts'

type StatementCommand = Statement['command']

/**
 * Reads a script and judges every command in it, in the order of the text. Constructs that it does not know are refused.
 * It follows no values: only the directories that the shell can be in.
 */
class Analysis implements Analyst {
  readonly context: AnalysisContext

  constructor(context: AnalysisContext) {
    this.context = context
  }

  within(context: AnalysisContext): Analyst {
    return new Analysis(context)
  }

  line(source: string, context: AnalysisContext): Outcome {
    return analyseSource(source, context)
  }

  list(statements: readonly Statement[]): Outcome {
    return together(...statements.map(({ command }) => this.#maybe(() => this.#node(command))))
  }

  /** Commands after it may run where those before it did: a `cd` in it can fail. */
  #maybe(run: () => Outcome): Outcome {
    const { place } = this.context
    const before = place.cwd
    const outcome = run()
    place.cwd = joinDirectories(before, place.cwd)
    return outcome
  }

  #node(node: StatementCommand): Outcome {
    switch (node.type) {
      case 'AndOr':
        return this.#andOr(node.commands, node.operators)
      case 'Pipeline':
        return this.#pipeline(node.commands, node.operators)
      default:
        return this.command(node)
    }
  }

  /** After `cd x &&` a command runs in `x` alone. */
  #andOr(commands: readonly StatementCommand[], operators: readonly string[]): Outcome {
    const { place } = this.context
    let seen = place.cwd
    const outcomes = commands.map((command, index) => {
      const other = operators[index - 1] === '||'
      if (other) place.cwd = seen
      const outcome = this.#node(command)
      seen = joinDirectories(seen, place.cwd)
      if (other) place.cwd = seen
      return outcome
    })
    place.cwd = seen
    return together(...outcomes)
  }

  #pipeline(commands: readonly CommandNode[], operators: readonly string[]): Outcome {
    const [only, ...others] = commands
    if (only !== undefined && others.length === 0) return this.#maybe(() => this.command(only))
    let { tainted } = this.context
    let hosts = false
    let last = silent
    commands.forEach((command, index) => {
      // Each part has a shell of its own.
      last = this.within({ ...this.context, tainted, place: { ...this.context.place } }).command(command)
      hosts ||= last.hosts
      tainted = last.prints || (operators[index] === '|&' && last.hosts)
    })
    return { prints: last.prints, hosts }
  }

  command(node: CommandNode): Outcome {
    const substituted = { hosts: false }
    const outcome = new Analysis({ ...this.context, substituted }).#command(node)
    return { ...outcome, hosts: outcome.hosts || substituted.hosts }
  }

  #command(node: CommandNode): Outcome {
    switch (node.type) {
      case 'Command':
        return this.#simple(node)
      case 'Redirected':
        return this.#redirected(node.redirects, (inner) => inner.command(node.command))
      case 'BraceGroup':
        return this.list(node.body.commands)
      case 'Subshell':
        return this.within({ ...this.context, place: { ...this.context.place } }).list(node.body.commands)
      case 'If': {
        const lists = [node.clause, node.then, ...node.elif.flatMap(({ clause, then }) => [clause, then])]
        if (node.else !== undefined) lists.push(node.else)
        return together(...lists.map(({ commands }) => this.list(commands)))
      }
      case 'While':
        return this.#turns(node, () => together(this.list(node.clause.commands), this.list(node.body.commands)))
      case 'For': {
        const name = staticText(node.name)
        if (name === undefined) return refuse('construct', node.name.text)
        refuseDangerous(name, name)
        for (const word of node.wordlist ?? []) this.call('for', []).kept(this.argument(word))
        return this.#turns(node, () => this.list(node.body.commands))
      }
      case 'Case':
        for (const word of [node.word, ...node.items.flatMap(({ pattern }) => pattern)]) judgeText(this.argument(word))
        return together(...node.items.map(({ body }) => this.list(body.commands)))
      case 'TestCommand':
        return judgeTest(this, node.expression)
      case 'ArithmeticCommand':
        if (node.expression !== undefined) judgeArithmetic(node.expression)
        return silent
      default:
        return refuse('construct', this.text(node))
    }
  }

  /** A body runs any number of times: it must leave to its next turn what it found. */
  #turns(node: SyntaxNode, run: () => Outcome): Outcome {
    const { place, facts } = this.context
    const before = { ...place, ...facts }
    const outcome = run()
    if (place.cwd !== before.cwd || place.moved !== before.moved)
      return refuse('construct', this.text(node), 'put its `cd` into a subshell: (cd DIRECTORY && …)')
    if (facts.links !== before.links || facts.unchecked !== before.unchecked)
      return refuse('construct', this.text(node), 'write out each command that moves files or makes links')
    return outcome
  }

  #redirected(redirections: readonly Redirection[], run: (inner: Analyst) => Outcome): Outcome {
    const judged = judgeRedirections(this, redirections)
    return judged.apply(run(this.within({ ...this.context, tainted: judged.tainted })))
  }

  #simple(node: Command): Outcome {
    // It changes where every later command writes to.
    const lasting =
      node.name !== undefined && node.redirects.length > 0 && node.args.length === 0 && staticText(node.name) === 'exec'
    if (lasting) return refuse('construct', this.text(node))
    return this.#redirected(node.redirects, (inner) => judgeCommand(inner, node))
  }

  value(word: Word): Value {
    return valueOf(this, word)
  }

  argument(word: Word): Argument {
    return { word, value: this.value(word) }
  }

  call(name: string, args: readonly Argument[]): Invocation {
    return callOf(this, name, args)
  }

  text(node: SyntaxNode): string {
    return this.context.source.slice(node.pos, node.end)
  }
}

/** Parses and judges a line. @throws Refusal */
export function analyseSource(source: string, context: AnalysisContext): Outcome {
  let script: Script
  try {
    script = parseScript(source)
  } catch (error) {
    if (!(error instanceof UnreadableCommand)) throw error
    return refuse('syntax', source.length > 80 ? `${source.slice(0, 80)}…` : source)
  }
  return new Analysis({ ...context, constants: unchanged(context.constants, script) }).list(script.commands)
}

/** The variables that no part of a script can set: no word of it is their name. */
function unchanged(variables: ReadonlyMap<string, string>, script: Script): ReadonlyMap<string, string> {
  const kept = new Map(variables)
  visit(script, (node) => {
    if (node.type === 'Assignment') kept.delete(node.name)
    else if (node.type === 'Word') kept.delete(staticText(node) ?? '')
    else if (node.type === 'Redirect' && node.descriptor?.type === 'FileDescriptorVariable')
      kept.delete(node.descriptor.name)
  })
  return kept
}

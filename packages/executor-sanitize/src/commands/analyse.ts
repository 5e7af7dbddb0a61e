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
  type Word,
} from '@ws/command-parser'

import { refuse } from '../refusal.ts'
import type { Analyst } from './analyst.ts'
import { numbered } from './arithmetic.ts'
import { judgeCase, judgeIf } from './branches.ts'
import type { Argument, Invocation } from '../invocation/invocation.ts'
import { judgeTest } from './conditions.ts'
import { type AnalysisContext, type Outcome, plain } from '../invocation/analysis-context.ts'
import { judgeArithmeticFor, judgeFor, judgeWhile } from './loops.ts'
import { judgeRedirections } from './redirections.ts'
import { callOf, judgeCommand } from './simple-command.ts'
import { forget, join, type State } from '../invocation/state.ts'
import type { Value } from '../invocation/values.ts'
import { holdsHosts, insideOf, valueOf } from './words.ts'

type StatementCommand = Statement['command']

/**
 * Reads a script and judges everything in it: lists and pipelines here. Constructs that it does not know are refused.
 */
class Analysis implements Analyst {
  readonly context: AnalysisContext

  constructor(context: AnalysisContext) {
    this.context = context
  }

  within(context: AnalysisContext): Analyst {
    return new Analysis(context)
  }

  script(script: Pick<Script, 'commands'>, state: State): Outcome {
    return this.list(script.commands, state)
  }

  line(source: string, state: State, context: AnalysisContext): Outcome {
    return analyseSource(source, state, context)
  }

  list(statements: readonly Statement[], start: State): Outcome {
    let state: State | undefined = start
    const seen: Outcome[] = []
    let last = plain(start)
    for (const statement of statements) {
      // Commands after an `exit` never run, but they are read all the same.
      const before: State = state ?? forget(start)
      last = this.#node(statement.command, before)
      seen.push(last)
      state = statement.background ? before : state === undefined ? undefined : join(last.success, last.failure)
    }
    const only = seen.length === 1 ? last : undefined
    return {
      success: only === undefined ? state : last.success,
      failure: only === undefined ? state : last.failure,
      prints: seen.some(({ prints }) => prints),
      hosts: seen.some(({ hosts }) => hosts),
      ...(only?.names === undefined ? {} : { names: only.names }),
      number: only?.number,
    }
  }

  #node(node: StatementCommand, state: State): Outcome {
    switch (node.type) {
      case 'AndOr':
        return this.#andOr(node.commands, node.operators, state)
      case 'Pipeline':
        return this.#pipeline(node.commands, node.operators, state)
      default:
        return this.command(node, state)
    }
  }

  #andOr(commands: readonly StatementCommand[], operators: readonly string[], start: State): Outcome {
    let outcome = plain(start)
    commands.forEach((command, index) => {
      const operator = operators[index - 1]
      const from = operator === '||' ? outcome.failure : outcome.success
      const next = this.#node(command, from ?? forget(start))
      const dead = from === undefined
      const success = dead ? undefined : next.success
      const failure = dead ? undefined : next.failure
      outcome = {
        success: operator === '||' ? join(outcome.success, success) : success,
        failure: operator === '&&' ? join(outcome.failure, failure) : failure,
        prints: outcome.prints || next.prints,
        hosts: outcome.hosts || next.hosts,
      }
    })
    return outcome
  }

  #pipeline(commands: readonly CommandNode[], operators: readonly string[], state: State): Outcome {
    if (commands.length === 1 && commands[0] !== undefined) {
      const { success, failure, ...rest } = this.command(commands[0], state)
      const either = join(success, failure)
      return { ...rest, success: either, failure: either }
    }
    let input = this.context.input
    let hosts = false
    let last = plain(state)
    commands.forEach((command, index) => {
      last = this.within({ ...this.context, input }).command(command, state)
      hosts ||= last.hosts
      const names = last.names
      input = {
        tainted: last.prints || (operators[index] === '|&' && last.hosts),
        ...(names === undefined ? {} : { names }),
      }
    })
    // Each part has a shell of its own. In the last one a `cd` can stay (`lastpipe`), so nothing is known then.
    return {
      ...plain(state),
      prints: last.prints,
      hosts,
      number: last.number,
      ...(last.names === undefined ? {} : { names: last.names }),
    }
  }

  command(node: CommandNode, state: State): Outcome {
    switch (node.type) {
      case 'Command':
        return this.#simple(node, state)
      case 'Redirected':
        return this.#redirected(node.redirects, state, (inner) => inner.command(node.command, state))
      case 'BraceGroup':
        return this.list(node.body.commands, state)
      case 'Subshell': {
        const inner = this.list(node.body.commands, state)
        return { ...inner, success: state, failure: state }
      }
      case 'If':
        return judgeIf(this, node, state)
      case 'While':
        return judgeWhile(this, node, state)
      case 'For':
        return judgeFor(this, node, state)
      case 'ArithmeticFor':
        return judgeArithmeticFor(this, node, state)
      case 'Case':
        return judgeCase(this, node, state)
      case 'TestCommand':
        return judgeTest(this, node.expression, state)
      case 'ArithmeticCommand':
        if (node.expression !== undefined) this.inside(node.expression, state)
        return plain(numbered(state, [node.expression]))
      case 'Function': {
        const name = staticText(node.name)
        if (name === undefined) return refuse('construct', node.name.text)
        this.context.functions.add(name)
        // It can be called from anywhere, with anything.
        const inner = this.command(asCommand(node.body), { ...forget(state), cwd: 'any' })
        if (inner.prints) this.context.functions.add(`prints:${name}`)
        if (inner.hosts) this.context.functions.add(`hosts:${name}`)
        return plain(state)
      }
      default:
        return refuse('construct', this.text(node))
    }
  }

  #redirected(redirections: readonly Redirection[], state: State, run: (inner: Analyst) => Outcome): Outcome {
    const judged = judgeRedirections(redirections, {
      evaluate: (word) => this.value(word, state),
      expansions: (parts) => holdsHosts(this, parts, state),
      state,
      context: this.context,
    })
    const inner = judged.input === undefined ? this : this.within({ ...this.context, input: judged.input })
    const outcome = run(inner)
    return judged.apply(outcome)
  }

  #simple(node: Command, state: State): Outcome {
    // It changes where every later command writes to.
    const lasting =
      node.name !== undefined && node.redirects.length > 0 && node.args.length === 0 && staticText(node.name) === 'exec'
    if (lasting) return refuse('construct', this.text(node))
    return this.#redirected(node.redirects, state, (inner) => judgeCommand(inner, node, state))
  }

  value(word: Word, state: State): Value {
    return valueOf(this, word, state)
  }

  argument(word: Word, state: State): Argument {
    return { word, value: this.value(word, state) }
  }

  call(name: string, args: readonly Argument[], state: State): Invocation {
    return callOf(this, name, args, state)
  }

  inside(node: SyntaxNode, state: State): void {
    insideOf(this, node, state)
  }

  text(node: SyntaxNode): string {
    return this.context.source.slice(node.pos, node.end)
  }
}

/** Parses and judges a line. @throws Refusal */
export function analyseSource(source: string, state: State, context: AnalysisContext): Outcome {
  let script: Script
  try {
    script = parseScript(source)
  } catch (error) {
    if (!(error instanceof UnreadableCommand)) throw error
    return refuse('syntax', source.length > 80 ? `${source.slice(0, 80)}…` : source)
  }
  return new Analysis(context).script(script, state)
}

function asCommand(body: Extract<CommandNode, { type: 'Function' }>['body']): CommandNode {
  return body.type === 'CompoundList' ? { type: 'BraceGroup', pos: body.pos, end: body.end, body } : body
}

import {
  type ArithmeticExpression,
  type Assignment,
  type Command,
  type CommandNode,
  type CompoundList,
  parseScript,
  type Redirection,
  type Script,
  staticText,
  type Statement,
  type SyntaxNode,
  UnreadableCommand,
  visit,
  type Word,
  type WordPart,
} from '@ws/command-parser'
import { quoteForShell } from '@ws/core'

import { runProgram } from '../programs/index.ts'
import { isFileComparison, isFileTest, isLinkTest } from '../programs/test.ts'
import { refuseDangerous } from '../programs/starters.ts'
import { refuse } from '../refusal.ts'
import { type Argument, Call, textOf } from './call.ts'
import { type Context, type Outcome, plain } from './context.ts'
import { Edits } from './edits.ts'
import { judgeRedirections } from './redirections.ts'
import { forget, isNumber, isTainted, join, type State, type Variable, withVariable } from './state.ts'
import { evaluate, type Value } from './values.ts'
import { directoryVariable } from './builtins.ts'

type StatementCommand = Statement['command']
type Substitution = Extract<WordPart, { type: 'CommandExpansion' }>

const deepest = 12
const noInput = { tainted: false } as const

/** Reads a script and judges everything in it. What it does not know it refuses. */
export class Analysis {
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  script(script: Script | CompoundList, state: State): Outcome {
    return this.#list(script.commands, state)
  }

  #list(statements: readonly Statement[], start: State): Outcome {
    let state: State | undefined = start
    const seen: Outcome[] = []
    let last = plain(start)
    for (const statement of statements) {
      // What follows an `exit` is never run, but it is read all the same.
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
        return this.#command(node, state)
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
      const { success, failure, ...rest } = this.#command(commands[0], state)
      const either = join(success, failure)
      return { ...rest, success: either, failure: either }
    }
    let input = this.#context.input
    let hosts = false
    let last = plain(state)
    commands.forEach((command, index) => {
      last = new Analysis({ ...this.#context, input }).#command(command, state)
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

  #command(node: CommandNode, state: State): Outcome {
    switch (node.type) {
      case 'Command':
        return this.#simple(node, state)
      case 'Redirected':
        return this.#redirected(node.redirects, state, (inner) => inner.#command(node.command, state))
      case 'BraceGroup':
        return this.#list(node.body.commands, state)
      case 'Subshell': {
        const inner = this.#list(node.body.commands, state)
        return { ...inner, success: state, failure: state }
      }
      case 'If':
        return this.#if(node, state)
      case 'While':
        return this.#loop(node, state, (body) => {
          const clause = this.#list(node.clause.commands, body)
          return both(clause, this.#list(node.body.commands, join(clause.success, clause.failure) ?? body))
        })
      case 'For':
        return this.#for(node, state)
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update]) if (part !== undefined) this.#inside(part, state)
        return this.#loop(node, numbered(state, [node.initialize]), (body) => this.#list(node.body.commands, body))
      case 'Case':
        return this.#case(node, state)
      case 'TestCommand':
        return this.#test(node.expression, state)
      case 'ArithmeticCommand':
        if (node.expression !== undefined) this.#inside(node.expression, state)
        return plain(numbered(state, [node.expression]))
      case 'Function': {
        const name = staticText(node.name)
        if (name === undefined) return refuse('construct', node.name.text)
        this.#context.functions.add(name)
        // It can be called from anywhere, with anything.
        const inner = this.#command(asCommand(node.body), { ...forget(state), cwd: 'any' })
        if (inner.prints) this.#context.functions.add(`prints:${name}`)
        if (inner.hosts) this.#context.functions.add(`hosts:${name}`)
        return plain(state)
      }
      default:
        return refuse('construct', this.#text(node))
    }
  }

  #if(node: Extract<CommandNode, { type: 'If' }>, state: State): Outcome {
    let clause = this.#list(node.clause.commands, state)
    const seen = [clause]
    let after: State | undefined
    const branch = (list: CompoundList, from: State | undefined) => {
      const outcome = this.#list(list.commands, from ?? forget(state))
      seen.push(outcome)
      if (from !== undefined) after = join(after, join(outcome.success, outcome.failure))
    }
    branch(node.then, clause.success)
    for (const elif of node.elif) {
      clause = this.#list(elif.clause.commands, clause.failure ?? forget(state))
      seen.push(clause)
      branch(elif.then, clause.success)
    }
    if (node.else === undefined) after = join(after, clause.failure)
    else branch(node.else, clause.failure)
    return gather(seen, after)
  }

  #case(node: Extract<CommandNode, { type: 'Case' }>, state: State): Outcome {
    this.#shownText(node.word, state)
    let after: State | undefined = state
    const seen: Outcome[] = []
    for (const item of node.items) {
      for (const pattern of item.pattern) this.#shownText(pattern, state)
      // A body can go on in the next one (`;&`).
      const outcome = this.#list(item.body.commands, after ?? forget(state))
      seen.push(outcome)
      after = join(after, join(outcome.success, outcome.failure))
    }
    return gather(seen, after)
  }

  #for(node: Extract<CommandNode, { type: 'For' }>, state: State): Outcome {
    const name = staticText(node.name)
    if (name === undefined) return refuse('construct', node.name.text)
    refuseDangerous(name, name)
    const variable =
      node.wordlist === undefined ? ({ kind: 'opaque', tainted: true } as const) : this.#listed(node.wordlist, state)
    return this.#loop(node, state, (body) => this.#list(node.body.commands, withVariable(body, name, variable)))
  }

  /** What the variable of a `for` can be. Patterns that are absolute become paths of this machine where they stand. */
  #listed(words: readonly Word[], state: State): Variable {
    const values = words.map((word) => ({ word, value: this.#value(word, state) }))
    const patterns = values.some(
      ({ value }) => value.host || (value.glob && value.texts?.some((text) => text.startsWith('/'))),
    )
    const texts: string[] = []
    let host = patterns
    let numbers = 0
    for (const argument of values) {
      const { value } = argument
      if (isNumberWord(value) && (value.splits || value.brace || !value.fixed)) {
        numbers++
        continue
      }
      if (value.texts === undefined || value.splits || value.brace) return { kind: 'opaque', tainted: value.tainted }
      if (patterns || value.glob) {
        const call = this.#call('for', [argument], state)
        call.path(argument, 'read')
        host &&= call.hosts
        if (patterns && !call.hosts) return refuse('unknown', argument.word.text)
      }
      texts.push(...value.texts)
    }
    if (numbers > 0)
      return texts.every((text) => /^\d+$/.test(text)) ? { kind: 'number' } : { kind: 'opaque', tainted: host }
    return texts.length > 64 ? { kind: 'opaque', tainted: host } : { kind: 'texts', texts: [...new Set(texts)], host }
  }

  /** A body runs any number of times: what it changes is not known at its start. */
  #loop(node: SyntaxNode, state: State, run: (state: State) => Outcome): Outcome {
    const changed = new Set<string>()
    let moves = false
    visit(node, (inner) => {
      if (inner.type === 'Assignment') changed.add(inner.name)
      if (inner.type !== 'Command' || inner.name === undefined) return
      const name = staticText(inner.name)
      if (name === 'cd' || this.#context.functions.has(name ?? '')) moves = true
      if (name === 'read' || name === 'unset')
        for (const word of inner.args) if (word.type === 'Word') changed.add(word.text)
    })
    // What a turn leaves behind is what the next one begins with: taken for harmless first, until a turn shows otherwise.
    let assumed = new Map<string, Variable>()
    for (const name of changed) {
      const before = state.variables.get(name)
      assumed.set(
        name,
        before !== undefined && isNumber(before)
          ? { kind: 'number' }
          : { kind: 'opaque', tainted: before !== undefined && isTainted(before) },
      )
    }
    for (;;) {
      const facts = { ...this.#context.facts }
      let start: State = { ...state, variables: new Map([...state.variables, ...assumed]) }
      if (moves)
        start = { ...start, cwd: 'any', variables: new Map(start.variables).set('PWD', directoryVariable('any')) }
      const outcome = run(start)
      const after = join(outcome.success, outcome.failure) ?? start
      const next = new Map<string, Variable>()
      for (const [name, variable] of assumed) {
        const left = after.variables.get(name) ?? variable
        const number = variable.kind === 'number' && isNumber(left)
        next.set(name, number ? variable : { kind: 'opaque', tainted: isTainted(variable) || isTainted(left) })
      }
      const same = [...next].every(([name, variable]) => {
        const before = assumed.get(name)
        return before?.kind === variable.kind && isTainted(before) === isTainted(variable)
      })
      const { links, unchecked } = this.#context.facts
      if (same && links === facts.links && unchecked === facts.unchecked)
        return gather([outcome], join(state, join(start, after)))
      assumed = next
    }
  }

  #test(expression: Extract<CommandNode, { type: 'TestCommand' }>['expression'], state: State): Outcome {
    switch (expression.type) {
      case 'TestUnary': {
        const argument = this.argument(expression.operand, state)
        const call = this.#call('[[', [argument], state)
        const { operator } = expression
        if (isFileTest(operator)) call.path(argument, 'read')
        else if (isLinkTest(operator)) call.path(argument, 'look')
        else this.#plainText(argument, operator === '-n' || operator === '-z')
        return call.done({ prints: false })
      }
      case 'TestBinary': {
        const call = this.#call('[[', [], state)
        for (const word of [expression.left, expression.right]) {
          const argument = this.argument(word, state)
          if (isFileComparison(expression.operator)) call.path(argument, 'read')
          else this.#plainText(argument, false)
        }
        return call.done({ prints: false })
      }
      case 'TestLogical':
        return gather(
          expression.operands.map((operand) => this.#test(operand, state)),
          state,
        )
      case 'TestNot':
        return this.#test(expression.operand, state)
      default:
        return this.#test(expression.expression, state)
    }
  }

  #plainText({ word, value }: Argument, emptiness: boolean): void {
    if (value.tainted && !emptiness) refuse('shown', word.text)
  }

  #shownText(word: Word, state: State): void {
    if (this.#value(word, state).tainted) refuse('shown', word.text)
  }

  #redirected(redirections: readonly Redirection[], state: State, run: (inner: Analysis) => Outcome): Outcome {
    const judged = judgeRedirections(redirections, {
      evaluate: (word) => this.#value(word, state),
      expansions: (parts) => this.#tainted(parts, state),
      state,
      context: this.#context,
    })
    const inner = judged.input === undefined ? this : new Analysis({ ...this.#context, input: judged.input })
    const outcome = run(inner)
    return judged.apply(outcome)
  }

  #simple(node: Command, state: State): Outcome {
    // It changes where every later command writes to.
    const lasting =
      node.name !== undefined && node.redirects.length > 0 && node.args.length === 0 && staticText(node.name) === 'exec'
    if (lasting) return refuse('construct', this.#text(node))
    return this.#redirected(node.redirects, state, (inner) => inner.#named(node, state))
  }

  #named(node: Command, state: State): Outcome {
    const assignments = node.prefix.filter((part): part is Assignment => part.type === 'Assignment')
    if (node.name === undefined) return plain(assignments.reduce((before, one) => this.#assign(one, before), state))
    for (const assignment of assignments) {
      refuseDangerous(assignment.name, assignment.text)
      if (isTainted(this.#assigned(assignment, state))) refuse('shown', assignment.text)
    }
    const args: Argument[] = []
    let after = state
    for (const part of node.args) {
      if (part.type === 'Word') args.push(this.argument(part, state))
      else {
        after = this.#assign(part, after)
        args.push({ word: asWord(part), value: this.#value(asWord(part), state) })
      }
    }
    const outcome = this.#start([this.argument(node.name, state), ...args], state, this.#context)
    if (after === state) return outcome
    // `export A=x`: the builtin knows the name alone.
    const variables = new Map(outcome.success?.variables ?? state.variables)
    for (const part of node.args)
      if (part.type === 'Assignment')
        variables.set(part.name, after.variables.get(part.name) ?? { kind: 'opaque', tainted: true })
    const known = { ...(outcome.success ?? state), variables }
    return { ...outcome, success: known, failure: known }
  }

  #assign(assignment: Assignment, state: State): State {
    refuseDangerous(assignment.name, assignment.text)
    return withVariable(state, assignment.name, this.#assigned(assignment, state))
  }

  #assigned({ value, append, index }: Assignment, state: State): Variable {
    if (value.type === 'ArrayValue') {
      const tainted = value.elements.map((word) => this.#value(word, state).tainted)
      return { kind: 'opaque', tainted: tainted.includes(true) }
    }
    const { texts, host, tainted, pieces } = this.#value(value, state)
    if (append || index !== undefined) return { kind: 'opaque', tainted: true }
    const [only] = pieces
    if (pieces.length === 1 && only?.kind === 'expansion') {
      const known = this.#expansion(value, state)
      if (known?.kind === 'number') return known
    }
    return texts === undefined ? { kind: 'opaque', tainted } : { kind: 'texts', texts, host }
  }

  /** `i=$((i + 1))`, `n=$(… | wc -l)`: digits. */
  #expansion(word: Word, state: State): Variable | undefined {
    const value = this.#value(word, state)
    return isNumberWord(value) && value.pieces.every(({ kind }) => kind === 'expansion') && value.texts?.join() === '0'
      ? { kind: 'number' }
      : undefined
  }

  #start(args: readonly Argument[], state: State, context: Context): Outcome {
    if (context.depth > deepest) return refuse('syntax', args[0]?.word.text ?? '')
    const [program, ...rest] = args
    if (program === undefined) return plain(state)
    const name = textOf(program)
    const { value, word } = program
    // Of several words, or none, the first that is left would be the program.
    const known = name !== undefined && (value.plain || /^[\w./+-]+$/.test(name)) && (!value.tainted || value.host)
    if (!known) return refuse('code', word.text, 'write the name of the program out')
    const call = new Analysis(context).#call(name, rest, state)
    return runProgram(call, program)
  }

  #call(name: string, args: readonly Argument[], state: State): Call {
    return new Call({
      name,
      args,
      state,
      context: this.#context,
      start: (inner, context) =>
        this.#start(placed(inner, context, state), state, { ...context, depth: context.depth + 1 }),
      line: (argument, from, context) => this.#line(argument, from, context),
    })
  }

  /** A line that is one argument: judged on its own, and quoted again. */
  #line({ word, value }: Argument, state: State, context: Context): Outcome {
    const [source] = value.texts ?? []
    if (!value.fixed || value.placed || source === undefined) return refuse('code', word.text)
    const edits = new Edits()
    const { outcome } = analyseSource(source, state, { ...context, source, edits, depth: context.depth + 1 })
    if (!edits.empty) context.edits.replace(word.pos, word.end, quoteForShell(edits.apply(source)))
    return outcome
  }

  argument(word: Word, state: State): Argument {
    return { word, value: this.#value(word, state) }
  }

  #value(word: Word, state: State): Value {
    const { settings, placeholder } = this.#context
    return evaluate(word, {
      state,
      home: settings.view.root,
      isMount: (path) => settings.view.mounts.some(({ at }) => at === path),
      bash: settings.bash,
      placeholder,
      substitute: (part) => this.#substitute(part, state),
      compute: (part) => this.#inside(part, state),
      refuse,
    })
  }

  #tainted(parts: readonly WordPart[] | undefined, state: State): boolean {
    return (parts ?? []).some((part) => {
      const word: Word = { type: 'Word', text: ' ', value: ' ', pos: 0, end: 0, parts: [part] }
      return this.#value(word, state).tainted
    })
  }

  #substitute({ script, text }: Pick<Substitution, 'script' | 'text'>, state: State): Variable {
    if (script === undefined) return refuse('syntax', text)
    // Backticks with backslashes have a text of their own, whose positions are not those of the line.
    const edits = script.source === undefined ? this.#context.edits : new Edits()
    const context: Context = {
      ...this.#context,
      edits,
      source: script.source ?? this.#context.source,
      input: noInput,
      depth: this.#context.depth + 1,
    }
    if (context.depth > deepest) return refuse('syntax', text)
    const outcome = new Analysis(context).script(script, state)
    if (script.source !== undefined && !edits.empty) return refuse('construct', text, 'use $(…) in place of backticks')
    const [statement] = script.commands
    const command = script.commands.length === 1 ? statement?.command : undefined
    if (command?.type === 'Command' && command.name !== undefined && command.redirects.length === 0) {
      const words = [command.name, ...command.args].map((word) => word.text).join(' ')
      if (words === 'pwd') return state.variables.get('PWD') ?? directoryVariable('any')
      if (/^mktemp(?: -[dqu]+)?$/.test(words)) return { kind: 'texts', texts: ['/tmp/tmp.0'], host: true }
    }
    return outcome.number ? { kind: 'number' } : { kind: 'opaque', tainted: outcome.prints }
  }

  /** Words in an arithmetic expression are numbers; substitutions in it are judged. */
  #inside(node: SyntaxNode, state: State): void {
    visit(node, (inner) => {
      if (inner.type === 'CommandExpansion' || inner.type === 'ArithmeticCommandExpansion')
        this.#substitute(inner, state)
    })
  }

  #text(node: SyntaxNode): string {
    return this.#context.source.slice(node.pos, node.end)
  }
}

/** What `find` and `xargs` start has the names they found in the place of `{}`. */
function placed(args: readonly Argument[], context: Context, state: State): readonly Argument[] {
  if (context.placeholder === undefined) return args
  const analysis = new Analysis(context)
  return args.map((argument) => (argument.value.placed ? argument : analysis.argument(argument.word, state)))
}

/** Parses and judges a line. @throws Refusal */
export function analyseSource(source: string, state: State, context: Context): { readonly outcome: Outcome } {
  let script: Script
  try {
    script = parseScript(source)
  } catch (error) {
    if (!(error instanceof UnreadableCommand)) throw error
    return refuse('syntax', source.length > 80 ? `${source.slice(0, 80)}…` : source)
  }
  return { outcome: new Analysis(context).script(script, state) }
}

function both(left: Outcome, right: Outcome): Outcome {
  return { ...right, prints: left.prints || right.prints, hosts: left.hosts || right.hosts }
}

function gather(seen: readonly Outcome[], after: State | undefined): Outcome {
  return {
    success: after,
    failure: after,
    prints: seen.some(({ prints }) => prints),
    hosts: seen.some(({ hosts }) => hosts),
  }
}

function isNumberWord({ texts, host, glob, pieces }: Value): boolean {
  return texts !== undefined && !host && !glob && pieces.length > 0 && texts.every((text) => /^[\d:-]+$/.test(text))
}

/** What an arithmetic command assigns in any case: a number. */
function numbered(state: State, expressions: readonly (ArithmeticExpression | undefined)[]): State {
  let result = state
  for (const expression of expressions) {
    const target =
      expression?.type === 'ArithmeticBinary' && /^(?:[-+*/%&|^]|<<|>>)?=$/.test(expression.operator)
        ? expression.left
        : expression?.type === 'ArithmeticUnary' && /^(?:\+\+|--)$/.test(expression.operator)
          ? expression.operand
          : undefined
    if (target?.type !== 'ArithmeticWord' || !/^[A-Za-z_]\w*$/.test(target.value)) continue
    refuseDangerous(target.value, target.value)
    result = withVariable(result, target.value, { kind: 'number' })
  }
  return result
}

function asCommand(body: Extract<CommandNode, { type: 'Function' }>['body']): CommandNode {
  return body.type === 'CompoundList' ? { type: 'BraceGroup', pos: body.pos, end: body.end, body } : body
}

/** `NAME=value` among the arguments, as a word: for `export` it is an assignment, for others a text. */
function asWord({ text, pos, end }: Assignment): Word {
  return { type: 'Word', text, value: text, pos, end }
}

import { outputOf } from '@ws/shell-tools'
import type { ExecResult } from 'just-bash'

import { evaluateFor } from '../arithmetic/expression.ts'
import { replaceEngine } from '../patterns/engine.ts'
import { takeMark, withoutMarks } from '../syntax/inherited.ts'
import type { ForLoop, SimpleCommand } from '../state/nodes.ts'
import { isProcess } from '../syntax/known-scripts.ts'
import { prepared } from '../syntax/prepare.ts'
import { readInput } from './reading.ts'
import { inSubstitution, sessionOf, shellOf, start } from '../state/shell.ts'
import type { Command, Internals, Interpreter, Pipeline, Script, Statement } from '../state/interpreter.ts'
import { evaluatedWords, attributedAssignments, letExpressions } from './arithmetic-words.ts'
import { asScript, endingOf, endScript, isDiscarded, isLeaving, noteFault, passFault, withFaults } from './discard.ts'
import { standIn } from './parts.ts'
import { Words } from './words.ts'
import { emptyMove } from './empty-move.ts'
import { testError } from './test-words.ts'
import { asOne, intoPipe, isBareExec, outputsOf, readsFile } from '../state/to-errors.ts'
import { declareLocals } from '../state/locals.ts'
import { referredWords, withReferences } from './references.ts'
import { runFile } from './run-file.ts'
import { background, wait } from './jobs.ts'
import { trapAfter, trapBefore, setTrap } from './trap.ts'

// These methods of just-bash's interpreter decide on the end of a script and the status of a command. This file wraps each method.

type Loop = Extract<Command, { readonly body: unknown; readonly type: 'For' | 'CStyleFor' | 'While' | 'Until' }>

const loops: ReadonlySet<string> = new Set(['For', 'CStyleFor', 'While', 'Until'])
/** Compound commands. `set -e` has already acted on a failed status of an inner command. */
const compounds: ReadonlySet<string> = new Set([...loops, 'If', 'Case', 'Group'])

let done = false

/** Patches the interpreter of this thread once. */
export function repairInterpreter({ interpreter, engine }: Internals): void {
  if (done) return
  done = true
  replaceEngine(engine)
  const { executeScript, executeStatement, executePipeline, executeCommandInner, executeSimpleCommand, runCommand } =
    interpreter

  interpreter.executeScript = async function (given: Script) {
    const script = prepared(given)
    const shell = shellOf(this)
    if (!shell.begun) {
      shell.begun = true
      shell.outermost = new Set(script.statements)
      start(this)
      const result = await asScript(shell, script, () => executeScript.call(this, script))
      return shell.unbound === undefined ? result : { ...result, exitCode: shell.unbound }
    }
    const depth = this.ctx.substitutionDepth ?? 0
    const run = () => asScript(shell, script, () => executeScript.call(this, script))
    return depth <= shell.depth ? run() : inSubstitution(this, shell, !isProcess(given), run)
  }

  interpreter.executeUserScript = function (path, given, stdin) {
    return runFile(this, path, given, stdin)
  }

  interpreter.executeStatement = async function (statement: Statement) {
    const shell = shellOf(this)
    const outer = evaluateFor(this)
    for (const pipeline of statement.pipelines.slice(0, -1)) shell.tested.add(pipeline)
    const loop = shell.loops.at(-1)
    const isRound = loop?.body.has(statement) === true
    const outermost = shell.outermost.has(statement)
    const isLast = outermost && statement === [...shell.outermost].at(-1)
    try {
      const result: ExecResult = isDiscarded(shell, statement)
        ? { stdout: '', stderr: '', exitCode: 1 }
        : statement.background
          ? await background(this, statement, (inner) => executeStatement.call(this, inner))
          : await executeStatement.call(this, statement)
      passFault(shell, result)
      if (isRound) Object.assign(loop, { ran: true, left: false })
      return isLast ? await trapAfter(this, result) : result
    } catch (thrown) {
      const error = await endingOf(this, thrown)
      // `break` and `continue` have status 0, and the loop then has status 0 too.
      if (isRound && isLeaving(error)) Object.assign(loop, { ran: true, left: true })
      // As in bash, the status is 127 for a script given with `-c`, and 1 for a script in a file.
      if (outermost && error instanceof Error && error.name === 'NounsetError')
        shell.unbound = shell.source === undefined ? 127 : 1
      noteFault(shell, statement, error)
      if (outermost) await trapBefore(this, error, isLast)
      throw error
    } finally {
      evaluateFor(outer)
    }
  }

  /** Marks pipelines that `set -e` ignores because their status is tested: all but the last in a list, and the pipeline after `!`. */
  interpreter.executePipeline = async function (pipeline: Pipeline) {
    const { state } = this.ctx
    const before = state.inCondition
    const tested = pipeline.negated || shellOf(this).tested.has(pipeline)
    if (tested) state.inCondition = true
    let result: ExecResult
    for (const command of pipeline.commands.slice(0, -1)) shellOf(this).piped.add(command)
    try {
      result = await executePipeline.call(this, pipeline)
      if (!pipeline.timed) result = asOne(result, sessionOf(this).outputs)
    } finally {
      state.inCondition = before
    }
    const [command, ...others] = pipeline.commands
    if (others.length > 0 || command === undefined || !compounds.has(command.type)) state.errexitSafe = false
    await endWithout(this, result, { tested: before || tested, negated: pipeline.negated })
    return result
  }

  interpreter.executeCommandInner = async function (given: Command, stdin: string, owns: boolean) {
    const command = await withReferences(this, given)
    const session = sessionOf(this)
    const around = session.outputs
    const isApart = command.type === 'Subshell' || shellOf(this).piped.has(given)
    const places = shellOf(this).piped.has(given) ? intoPipe(around) : around
    session.outputs = outputsOf(command, places)
    const { leadsOut } = session.outputs
    if (leadsOut !== undefined)
      session.refuse(`>&${leadsOut}`, 'it leads out of a substitution or a pipe; use a file or standard error')
    const isRedirected = session.outputs !== places && !isBareExec(command)
    try {
      const { pieces } = session
      const result = asOne(await withFaults(this, command, () => judged(this, command, stdin, owns)), places)
      // If the number of pieces has grown, inner commands have already recorded their output.
      if (session.pieces === pieces) session.print(result, places)
      return result
    } finally {
      // redirections such as `exec >&2` stay in effect for the rest of the script
      if (isApart || isRedirected) session.outputs = around
    }
  }

  async function judged(self: Interpreter, command: Command, stdin: string, owns: boolean): Promise<ExecResult> {
    const shell = shellOf(self)
    if (command.type === 'Subshell') {
      const { traps } = shell
      shell.traps = new Map()
      try {
        return await executeCommandInner.call(self, command, stdin, owns)
      } finally {
        Object.assign(shell, { traps, fault: undefined })
      }
    }
    if (command.type === 'SimpleCommand') return executeCommandInner.call(self, command, stdin, owns)
    const words = new Words(self, executeSimpleCommand, command.line)
    if (!loops.has(command.type))
      return words.run(/^C(?:ase|ond)/.test(command.type) ? await words.ofTest(command) : command, (ready) =>
        executeCommandInner.call(self, ready, stdin, owns),
      )
    const loop = { body: new Set<unknown>((command as Loop).body), ran: false, left: false }
    const node = command.type === 'For' ? ((await words.ofLoop(command as ForLoop)) as Command) : command
    shell.loops.push(loop)
    try {
      const result = await words.run(node, (ready) => executeCommandInner.call(self, ready, stdin, owns))
      // `set -e` has already acted on a failed status in the last round of the loop.
      if (loop.ran) self.ctx.state.errexitSafe = true
      return loop.left ? { ...result, exitCode: 0 } : result
    } finally {
      shell.loops.pop()
    }
  }

  /** Corrects the status of assignments without a command: the status of their last `$(…)`, or 0. */
  interpreter.executeSimpleCommand = async function (given: Command, stdin: string) {
    const { state } = this.ctx
    if (given.type !== 'SimpleCommand') return executeSimpleCommand.call(this, given, stdin)
    const command = attributedAssignments(given, this)
    const shell = shellOf(this)
    const { substitutions } = shell
    const stale = state.lastExitCode
    const empty = emptyMove(command, state)
    if (empty !== undefined) sessionOf(this).refuse(empty.subject, empty.reason)
    const words = new Words(this, executeSimpleCommand, command.line)
    const node = (await words.ofCommand(command as SimpleCommand)) as unknown as Command & SimpleCommand
    const result = await words.run(node, (ready) => executeSimpleCommand.call(this, ready, stdin))
    if (node.name !== null)
      return state.options.xtrace
        ? { ...result, stdout: withoutMarks(result.stdout), stderr: withoutMarks(result.stderr) }
        : result
    // just-bash loses the errors of `x=$(…) > file`.
    if ((command as { readonly redirections?: readonly unknown[] }).redirections?.length)
      Object.assign(result, { stderr: (state.expansionStderr ?? '') + result.stderr })
    const failed = result.exitCode !== stale || (result.stderr !== '' && !state.options.xtrace)
    return failed || shell.substitutions > substitutions || readsFile(command) ? result : { ...result, exitCode: 0 }
  }

  interpreter.runCommand = async function (name, marked, ...rest) {
    // The name may belong to a function as well as to a program.
    const own = this.ctx.state.functions.has(name) ? takeMark(marked).words : marked
    const words = referredWords(this, name, own)
    if (name === standIn) {
      shellOf(this).values = words
      return { stdout: '', stderr: '', exitCode: 0 }
    }
    if (/^(?:read|mapfile|readarray)$/.test(name))
      return readInput(this, name, words, typeof rest[1] === 'string' ? rest[1] : '', (ready) =>
        runCommand.call(this, name, ready, ...rest),
      )
    if (name === 'unset' && words[0] === '-n') sessionOf(this).refuse('unset -n', 'a reference stays; use another name')
    const isMap = (word: string) => this.ctx.state.associativeArrays?.has(word) === true
    if (/^(?:declare|typeset)$/.test(name) && words.includes('-p') && words.some(isMap))
      sessionOf(this).refuse(`${name} -p`, 'an associative array is shown in another form; use a loop')
    if (name === 'trap') return setTrap(this, words)
    if (name === 'wait') return wait(this, words)
    if (name === 'let' && words.length > 0) return letExpressions(this, words)
    if (/^(?:cd|pushd)$/.test(name) && words.filter((word) => !/^-./.test(word)).length > 1)
      return { stdout: '', stderr: `bash: ${name}: too many arguments\n`, exitCode: 1 }
    const given = await evaluatedWords(this, name, words)
    if (name === 'cd' && given.at(-1) === '-' && this.ctx.state.previousDir === '')
      return { stdout: '', stderr: 'bash: cd: OLDPWD not set\n', exitCode: 1 }
    const odd = name === 'test' || name === '[' ? testError(name, given) : undefined
    if (odd !== undefined) return odd
    shellOf(this).called = name
    const result = await runCommand.call(this, declareLocals(this, name, given), given, ...rest)
    if (name === 'return' && result.stderr !== '' && result.exitCode === 1) return { ...result, exitCode: 2 }
    if (result.exitCode !== 127 || !notFound.test(result.stderr)) return result
    // For a missing path of the workspace, the script itself handles the status.
    if (!name.includes('/') || /^\/(?:usr\/(?:local\/)?)?s?bin\//.test(name)) sessionOf(this).missing ??= name
    return name.includes('/') ? result : { ...result, stderr: `bash: ${name}: command not found\n` }
  }
}

/** Messages for a missing program. just-bash adds more text for some programs. */
const notFound =
  /^bash: [^\n]*: (?:command not found|No such file or directory|command not available in browser environments[^\n]*)\n$/

/** Ends the script at a missing program if the status is not tested, since later commands rely on the program. */
async function endWithout(
  interpreter: Interpreter,
  result: ExecResult,
  { tested, negated }: { readonly tested: boolean; readonly negated: boolean },
): Promise<void> {
  const session = sessionOf(interpreter)
  if (session.missing === undefined) return
  if (tested && (negated || result.exitCode === 127)) {
    Object.assign(session, { missing: undefined, endedBy: undefined })
    return
  }
  session.endedBy = session.missing
  await endScript(interpreter, 127, { stdout: outputOf(result), stderr: result.stderr })
}

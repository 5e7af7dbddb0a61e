import type { ExecResult } from 'just-bash'

import type { Session } from './session.ts'
import type { Command, Interpreter, Pipeline, ShellState, Statement } from './interpreter.ts'
import type { OuterVariable } from './locals.ts'
import { intoPipe } from './to-errors.ts'

/** Where bash goes on after a fault: after the command, after the line, or nowhere. */
export type Reach = 'command' | 'line' | 'script'

/** Facts of one interpreter besides its own state. */
export class Shell {
  /** True from the first script on, which is the whole one. */
  begun = false
  outermost: ReadonlySet<Statement> = new Set()
  /** Substitutions that are running, and that have run. */
  depth = 0
  substitutions = 0
  readonly tested = new WeakSet<Pipeline>()
  /** Commands whose output goes into a pipe. */
  readonly piped = new WeakSet<Command>()
  loops: { readonly body: ReadonlySet<unknown>; ran: boolean; left: boolean }[] = []
  traps = new Map<string, string>()
  readonly jobs = new Map<number, number>()
  /** The values of the latest part of a word. */
  values: readonly string[] = []
  /** True while a word is expanded under `set -x`. */
  traced = false
  /** The name by which the latest program was called. */
  called = ''
  /** The status of a script that `set -u` has ended. */
  unbound: number | undefined
  /** The statements of the innermost script. */
  statements: ReadonlySet<Statement> = new Set()
  /** Variables outside of functions that have others of those names. */
  readonly outer: OuterVariable[] = []
  /** The latest fault of arithmetic, until a command has answered for it. */
  failed: { readonly message: string; readonly reach: Reach; readonly inRedirection?: boolean } | undefined
  /** A fault of arithmetic, on its way to the script that it is in. */
  fault: Error | undefined
  /** The line of that script whose further statements are left out. */
  discarded: number | undefined
  /** The file that the whole script comes from. */
  source: string | undefined
}

const shells = new WeakMap<Interpreter, Shell>()
const sessions = new WeakMap<object, Session>()

export function shellOf(interpreter: Interpreter): Shell {
  const shell = shells.get(interpreter) ?? new Shell()
  shells.set(interpreter, shell)
  return shell
}

export function bindSession(files: object, session: Session): void {
  sessions.set(files, session)
}

/** @throws Error for an interpreter that has been started over other files. */
export function sessionOf({ ctx }: Interpreter): Session {
  const session = sessions.get(ctx.fs)
  if (session === undefined) throw new Error('the interpreter has no session')
  return session
}

/** Runs `$(…)`, whose text holds no NUL, or `<(…)`: `set -e` is off in it, and its options and functions end with it. */
export async function inSubstitution(
  self: Interpreter,
  shell: Shell,
  isText: boolean,
  run: () => Promise<ExecResult>,
): Promise<ExecResult> {
  const { state } = self.ctx
  const session = sessionOf(self)
  const { outputs } = session
  const { options, shoptOptions, functions, previousDir, directoryStack, inCondition } = state
  const { depth, traps, loops: outer } = shell
  Object.assign(state, {
    options: { ...options, errexit: false, xtrace: options.xtrace || shell.traced },
    shoptOptions: { ...shoptOptions },
    functions: new Map(functions),
    // The status of a command in it is not the status that is tested.
    inCondition: false,
  } satisfies Partial<ShellState>)
  session.outputs = intoPipe(outputs)
  Object.assign(shell, { depth: depth + 1, substitutions: shell.substitutions + 1, traps: new Map(), loops: [] })
  try {
    const result = await run()
    if (!isText || !result.stdout.includes('\0')) return result
    const warning = 'bash: warning: command substitution: ignored null byte in input\n'
    return { ...result, stdout: result.stdout.replaceAll('\0', ''), stderr: result.stderr + warning }
  } finally {
    Object.assign(state, { options, shoptOptions, functions, previousDir, directoryStack, inCondition })
    Object.assign(shell, { depth, traps, loops: outer })
    session.outputs = outputs
  }
}

/** Gives a script what is its own: just-bash lets all of them share what they export, and their options. */
export function start(interpreter: Interpreter): void {
  const session = sessionOf(interpreter)
  const { state } = interpreter.ctx
  const { source, exported } = session.begins
  session.begins = {}
  shellOf(interpreter).source = source
  Object.assign(state, {
    shoptOptions: { ...state.shoptOptions },
    readonlyVars: new Set(state.readonlyVars),
    exportedVars: new Set(exported ?? state.exportedVars),
    hashTable: new Map(),
    // `cd -` has nowhere to go at the start.
    previousDir: exported?.includes('OLDPWD') === true ? (state.env.get('OLDPWD') ?? '') : '',
  })
  if (source !== undefined) Object.assign(state, { currentSource: source, sourceStack: [source] })
}

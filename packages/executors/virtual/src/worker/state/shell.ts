import type { ExecResult } from 'just-bash'

import type { Session } from './session.ts'
import type { Command, Interpreter, Pipeline, ShellState, Statement } from './interpreter.ts'
import { unpackState } from './carried.ts'
import type { OuterVariable } from './locals.ts'
import { intoPipe } from './to-errors.ts'

/** The part of a script that bash skips after a fault: the rest of the command, the rest of the line, or the whole script. */
export type Reach = 'command' | 'line' | 'script'

export class Shell {
  /** True once the first script has begun. The first script is the whole script. */
  begun = false
  outermost: ReadonlySet<Statement> = new Set()
  /** The number of running substitutions. `substitutions`: the number of all substitutions so far. */
  depth = 0
  substitutions = 0
  readonly tested = new WeakSet<Pipeline>()
  readonly piped = new WeakSet<Command>()
  loops: { readonly body: ReadonlySet<unknown>; ran: boolean; left: boolean }[] = []
  traps = new Map<string, string>()
  readonly jobs = new Map<number, number>()
  values: readonly string[] = []
  /** True while a word is expanded under `set -x`. */
  traced = false
  /** The name of the latest program call. */
  called = ''
  /** The status of a script that `set -u` has ended. */
  unbound: number | undefined
  /** The statements of the innermost script. */
  statements: ReadonlySet<Statement> = new Set()
  /** Outer variables shadowed by a function's local variables. */
  readonly outer: OuterVariable[] = []
  /** The latest fault of arithmetic, until a command handles it. */
  failed: { readonly message: string; readonly reach: Reach; readonly inRedirection?: boolean } | undefined
  /** A fault of arithmetic that was thrown, and that its script has not yet handled. */
  fault: Error | undefined
  /** The number of a line whose remaining statements are skipped, after a fault on this line. */
  discarded: number | undefined
  /** The file that contains the whole script. */
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

/** @throws Error for an interpreter whose file system has no session */
export function sessionOf({ ctx }: Interpreter): Session {
  const session = sessions.get(ctx.fs)
  if (session === undefined) throw new Error('the interpreter has no session')
  return session
}

/** Runs `$(…)` (`isText`) or `<(…)` without `set -e`, with separate options and functions. Removes NULs from the text of `$(…)`. */
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
    // the status of an inner command is not tested
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

/** Gives a script its own exports and options, which just-bash would share with other scripts. */
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
    previousDir: exported?.includes('OLDPWD') === true ? (state.env.get('OLDPWD') ?? '') : '',
  })
  session.shell ??= state
  if (session.carried) unpackState(session.carried, state)
  session.carried = undefined
  if (source !== undefined) Object.assign(state, { currentSource: source, sourceStack: [source] })
}

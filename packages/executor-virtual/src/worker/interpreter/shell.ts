import type { Reach } from '../arithmetic/operators.ts'
import type { Session } from '../session.ts'
import type { Interpreter, Pipeline, Statement } from './interpreter.ts'
import type { OuterVariable } from './locals.ts'

/** Facts of one interpreter besides its own state. */
export interface Shell {
  /** True from the first script on, which is the whole one. */
  begun: boolean
  /** The statements of the whole script. */
  outermost: ReadonlySet<Statement>
  /** Substitutions that are running, and that have run. */
  depth: number
  substitutions: number
  /** Pipelines whose status is tested. */
  readonly tested: WeakSet<Pipeline>
  /** The loops that are running. */
  loops: { readonly body: ReadonlySet<unknown>; ran: boolean; left: boolean }[]
  /** Commands by the event they wait for. */
  traps: Map<string, string>
  /** Statuses of background commands. */
  readonly jobs: Map<number, number>
  /** The name by which the latest program was called. */
  called: string
  /** The status of a script that `set -u` has ended. */
  unbound: number | undefined
  /** The statements of the innermost script. */
  statements: ReadonlySet<Statement>
  /** Variables outside of functions that have others of those names. */
  readonly outer: OuterVariable[]
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
  let shell = shells.get(interpreter)
  if (shell === undefined) {
    shell = {
      begun: false,
      outermost: new Set(),
      depth: 0,
      substitutions: 0,
      tested: new WeakSet(),
      loops: [],
      traps: new Map(),
      jobs: new Map(),
      called: '',
      unbound: undefined,
      statements: new Set(),
      outer: [],
      failed: undefined,
      fault: undefined,
      discarded: undefined,
      source: undefined,
    }
    shells.set(interpreter, shell)
  }
  return shell
}

/** Says which session the interpreters over these files belong to. */
export function bindSession(files: object, session: Session): void {
  sessions.set(files, session)
}

/** @throws Error for an interpreter that has been started over other files. */
export function sessionOf({ ctx }: Interpreter): Session {
  const session = sessions.get(ctx.fs)
  if (session === undefined) throw new Error('the interpreter has no session')
  return session
}

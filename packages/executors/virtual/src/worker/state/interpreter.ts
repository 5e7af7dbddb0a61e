import { Bash, defineCommand, type ExecResult, type parse } from '#just-bash'

export type Script = ReturnType<typeof parse>
export type Statement = Script['statements'][number]
export type Pipeline = Statement['pipelines'][number]
export type Command = Pipeline['commands'][number]

/** just-bash's own error for its limits. The error ends a script, but keeps the script's output. */
export type FatalError = new (message: string, limit: string, stdout: string, stderr: string) => Error

/** The part of RE2 that just-bash calls. */
export interface Compiled {
  matcher(text: string): Matcher
  groupCount(): number
  namedGroups(): object
}

export interface Matcher {
  readonly matcherInput: { charSequence: string }
  reset(): Matcher
  find(from?: number): boolean
  start(group?: number): number
  end(group?: number): number
  group(group: number): string | null
}

export interface Engine {
  readonly LONGEST_MATCH: number
  compile(source: string, flags?: number): Compiled
  translateRegExp(source: string): string
}

interface List {
  kind: 'indexed' | 'associative'
  elements: Map<string, string>
}

/** The part of the interpreter's state that this package reads or corrects. */
export interface ShellState {
  cwd: string
  previousDir: string
  directoryStack?: string[]
  lastExitCode: number
  bashPid: number
  lastBackgroundPid: number
  /** True while the status of a command is tested, and `set -e` therefore ignores it. */
  inCondition: boolean
  /** True if `set -e` has already ignored a failed status. */
  errexitSafe?: boolean
  options: { errexit: boolean; xtrace: boolean; nounset?: boolean; noglob?: boolean }
  shoptOptions: { nullglob: boolean; dotglob: boolean }
  lastArg: string
  /** Standard input of a group or loop that no command has read. */
  groupStdin?: string
  readonlyVars?: Set<string>
  exportedVars?: ReadonlySet<string>
  functions: Map<string, unknown>
  env: Map<string, string>
  arrays?: Map<string, List>
  associativeArrays?: Set<string>
  namerefs?: ReadonlySet<string>
  integerVars?: Set<string>
  /** Standard error of a command's expansions. */
  expansionStderr?: string
  tempEnvBindings?: readonly ReadonlyMap<string, unknown>[]
  lowercaseVars?: Set<string>
  uppercaseVars?: Set<string>
  /** The outer variables that each running function hides. */
  localScopes: Map<string, string | undefined>[]
  localVarDepth?: Map<string, number>
  localArrayScopes?: Map<string, List | undefined>[]
  sourceStack?: string[]
  currentSource?: string
}

/** The part of just-bash's interpreter that this package corrects. */
export interface Interpreter {
  readonly ctx: { readonly state: ShellState; readonly fs: object; readonly substitutionDepth?: number }
  executeScript(script: Script): Promise<ExecResult>
  executeUserScript(path: string, given: readonly string[], stdin?: string): Promise<ExecResult>
  executeStatement(statement: Statement): Promise<ExecResult>
  executePipeline(pipeline: Pipeline): Promise<ExecResult>
  executeCommandInner(command: Command, stdin: string, owns: boolean): Promise<ExecResult>
  executeSimpleCommand(command: Command, stdin: string): Promise<ExecResult>
  runCommand(name: string, given: readonly string[], ...rest: readonly unknown[]): Promise<ExecResult>
}

const repaired = [
  'executeScript',
  'executeUserScript',
  'executeStatement',
  'executePipeline',
  'executeCommandInner',
  'executeSimpleCommand',
  'runCommand',
] as const satisfies readonly (keyof Interpreter)[]

export interface Internals {
  readonly FatalError: FatalError
  readonly interpreter: Interpreter
  readonly engine: Engine
}

let internals: Promise<Internals> | undefined

/** Finds classes that just-bash does not export, by running an empty script once per thread. @throws Error if a class is not found */
export function findInternals(): Promise<Internals> {
  internals ??= provoke()
  return internals
}

async function provoke(): Promise<Internals> {
  let error: FatalError | undefined
  let interpreter: Interpreter | undefined
  let engine: Engine | undefined
  const command = defineCommand('provoke', async (_, { executionScope }) => {
    try {
      executionScope?.consumeLimited('provoked', 1, 0)
    } catch (thrown) {
      error = (thrown as Error).constructor as FatalError
    }
    return { stdout: '', stderr: '', exitCode: 0 }
  })
  const bash = new Bash({ commands: [], customCommands: [command], defenseInDepth: false })
  // The constructor of the interpreter binds its methods, which reveals the interpreter's prototype.
  const { bind } = Function.prototype
  Function.prototype.bind = function (this: (...all: never[]) => unknown, self: unknown, ...given: unknown[]): unknown {
    if (typeof self === 'object' && self !== null && 'executeStatement' in self)
      interpreter ??= Object.getPrototypeOf(self) as Interpreter
    return Reflect.apply(bind, this, [self, ...given])
  } as typeof bind
  // Each RE2 expression stores its text in this property, which reveals the engine's class.
  Object.defineProperty(Object.prototype, 'patternInput', {
    configurable: true,
    set(this: object, value: unknown) {
      engine ??= this.constructor as unknown as Engine
      Object.defineProperty(this, 'patternInput', { value, writable: true, configurable: true, enumerable: true })
    },
  })
  try {
    await bash.exec('[[ a =~ a ]]; provoke')
  } finally {
    Function.prototype.bind = bind
    Reflect.deleteProperty(Object.prototype, 'patternInput')
  }
  if (
    error === undefined ||
    interpreter === undefined ||
    typeof engine?.compile !== 'function' ||
    typeof engine.translateRegExp !== 'function' ||
    repaired.some((name) => !Object.hasOwn(interpreter ?? {}, name))
  )
    throw new Error('this version of just-bash is built in another way than the executor knows')
  return { FatalError: error, interpreter, engine }
}

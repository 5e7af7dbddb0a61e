import { Bash, defineCommand, type ExecResult, type parse } from '#just-bash'

export type Script = ReturnType<typeof parse>
export type Statement = Script['statements'][number]
export type Pipeline = Statement['pipelines'][number]
export type Command = Pipeline['commands'][number]

/** An error that ends a whole script, and keeps its output so far: just-bash's own for its limits. */
export type FatalError = new (message: string, limit: string, stdout: string, stderr: string) => Error

/** A compiled expression of RE2, as far as just-bash calls it. */
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

/** The part of the interpreter's state that is read or put right here. */
export interface ShellState {
  cwd: string
  previousDir: string
  directoryStack?: string[]
  lastExitCode: number
  bashPid: number
  lastBackgroundPid: number
  /** True while the status of a command is tested, as `set -e` counts it. */
  inCondition: boolean
  /** True where a failed status has been excused from `set -e`. */
  errexitSafe?: boolean
  options: { errexit: boolean; xtrace: boolean; nounset?: boolean; noglob?: boolean }
  shoptOptions: { nullglob: boolean; dotglob: boolean }
  lastArg: string
  /** The part of standard input that the commands of a group or loop have not read yet. */
  groupStdin?: string
  readonlyVars?: Set<string>
  exportedVars?: ReadonlySet<string>
  functions: Map<string, unknown>
  env: Map<string, string>
  arrays?: Map<string, List>
  associativeArrays?: Set<string>
  namerefs?: ReadonlySet<string>
  integerVars?: Set<string>
  /** Standard error of the expansions of a command. */
  expansionStderr?: string
  tempEnvBindings?: readonly ReadonlyMap<string, unknown>[]
  lowercaseVars?: Set<string>
  uppercaseVars?: Set<string>
  /** Variables outside, for each function that is running. */
  localScopes: Map<string, string | undefined>[]
  localVarDepth?: Map<string, number>
  localArrayScopes?: Map<string, List | undefined>[]
  sourceStack?: string[]
  currentSource?: string
}

/** just-bash's interpreter of one script: the part of it that is put right here. */
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

/**
 * The classes that just-bash does not export. They are provoked once for each thread, by a script that runs nothing.
 *
 * @throws Error for a version of just-bash without them: then no command runs.
 */
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
  // The constructor of the interpreter binds its methods.
  const { bind } = Function.prototype
  Function.prototype.bind = function (this: (...all: never[]) => unknown, self: unknown, ...given: unknown[]): unknown {
    if (typeof self === 'object' && self !== null && 'executeStatement' in self)
      interpreter ??= Object.getPrototypeOf(self) as Interpreter
    return Reflect.apply(bind, this, [self, ...given])
  } as typeof bind
  // An expression of RE2 keeps its text in this property.
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

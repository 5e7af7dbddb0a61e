import type { PathView } from '../paths/path-view.ts'
import type { Edits } from './edits.ts'
import type { State, Variable } from './state.ts'

/** Settings that stay the same in a whole command line. */
export interface Settings {
  readonly view: PathView
  /** Names, and absolute paths of the workspace, of programs that may run code; `all`: every one. */
  readonly trust: ReadonlySet<string> | 'all'
  readonly bash: boolean
  /** True when a program of that name is in the system's directories. */
  isInstalled(name: string): boolean
  /** True when a program of this line can make links, or take directories away. */
  mayMoveFiles(): boolean
}

/** The standard input of a program. */
export interface Input {
  /** Paths of this machine may be in it. */
  readonly tainted: boolean
  /** It is a list of names that were found inside, each with a NUL at its end. */
  readonly names?: Variable | undefined
}

/** Facts that the analysis has met so far, in the order of the line. */
export interface Facts {
  /** Links may have been made, moved or put where a directory was. */
  links: boolean
  /** Links may have been made whose targets nobody looked at. */
  unchecked: boolean
  /** By directory of a mount: {@link leavingLinks}, as far as it was asked for. */
  readonly leaving: Map<string, ReadonlySet<string> | undefined>
}

/** The context of one command and of the commands inside it. */
export interface AnalysisContext {
  readonly settings: Settings
  readonly edits: Edits
  readonly facts: Facts
  readonly source: string
  readonly input: Input
  /** Names of functions of the script. */
  readonly functions: Set<string>
  readonly placeholder?: { readonly word: string; readonly variable: Variable } | undefined
  readonly depth: number
}

/** The outcome of a command. */
export interface Outcome {
  /** The state when it succeeds; `undefined` when the script does not go on. */
  readonly success: State | undefined
  readonly failure: State | undefined
  /** Its standard output may hold paths of this machine. */
  readonly prints: boolean
  /** It was given paths of this machine: its messages may hold them. */
  readonly hosts: boolean
  readonly names?: Variable | undefined
  /** Its output is digits, and nothing else but `-`, `:` and line ends. */
  readonly number?: boolean | undefined
}

export function plain(state: State, more: Partial<Outcome> = {}): Outcome {
  return { success: state, failure: state, prints: false, hosts: false, ...more }
}

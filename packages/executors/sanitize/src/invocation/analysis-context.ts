import type { PathView } from '../paths/path-view.ts'
import type { Edits } from './edits.ts'

/** Settings for a whole command line. */
export interface Settings {
  readonly view: PathView
  /** Names or absolute workspace paths of programs that may run code. `all`: every program. */
  readonly trust: ReadonlySet<string> | 'all'
  readonly bash: boolean
}

/** The state of one shell. A subshell starts with a copy. */
export interface ShellState {
  cwd: ReadonlySet<string>
  moved: boolean
}

/** The context of a command and its nested commands. */
export interface AnalysisContext {
  readonly settings: Settings
  readonly edits: Edits
  /** True if earlier commands may have made or moved links, or created names that begin with `-`. Never reset to false. */
  readonly facts: { links: boolean }
  readonly place: ShellState
  /** Variables with one value in the whole line. */
  readonly constants: ReadonlyMap<string, string>
  readonly source: string
  /** True if the command's standard input may contain host paths. */
  readonly tainted: boolean
}

export interface Outcome {
  /** True if the command's standard output may contain host paths. */
  readonly prints: boolean
  /** True if the command got host paths, so that its messages may contain them. */
  readonly hosts: boolean
}

export const silent: Outcome = { prints: false, hosts: false }

export function together(outcomes: readonly Outcome[]): Outcome {
  return { prints: outcomes.some(({ prints }) => prints), hosts: outcomes.some(({ hosts }) => hosts) }
}

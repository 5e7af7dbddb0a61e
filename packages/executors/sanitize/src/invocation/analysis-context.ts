import type { PathView } from '../paths/path-view.ts'
import type { Edits } from './edits.ts'

/** Settings that stay the same in a whole command line. */
export interface Settings {
  readonly view: PathView
  /** Names, and absolute paths of the workspace, of programs that may run code; `all`: every one. */
  readonly trust: ReadonlySet<string> | 'all'
  /** The shell is bash, not another POSIX shell. */
  readonly bash: boolean
}

/** The place of one shell. A subshell begins with a copy. */
export interface Place {
  /** The directories that it can be in. */
  cwd: ReadonlySet<string>
  /** It has run `cd`. */
  moved: boolean
}

/** The context of one command and of the commands inside it. */
export interface AnalysisContext {
  readonly settings: Settings
  readonly edits: Edits
  /** The line before this command may have made or moved links, or names that begin with `-`. It only becomes true. */
  readonly facts: { links: boolean }
  readonly place: Place
  /** Variables of the environment that keep their values in the whole line. */
  readonly constants: ReadonlyMap<string, string>
  readonly source: string
  /** Paths of this machine may be in its standard input. */
  readonly tainted: boolean
}

/** The output of a command. */
export interface Outcome {
  /** Its standard output may hold paths of this machine. */
  readonly prints: boolean
  /** It was given paths of this machine: its messages may hold them. */
  readonly hosts: boolean
}

export const silent: Outcome = { prints: false, hosts: false }

/** The output of several commands together. */
export function together(outcomes: readonly Outcome[]): Outcome {
  return { prints: outcomes.some(({ prints }) => prints), hosts: outcomes.some(({ hosts }) => hosts) }
}

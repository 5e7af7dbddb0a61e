import type { PathView } from '../paths/path-view.ts'
import type { Edits } from './edits.ts'
import type { Known } from './values.ts'

/** Settings that stay the same in a whole command line. */
export interface Settings {
  readonly view: PathView
  /** Names, and absolute paths of the workspace, of programs that may run code; `all`: every one. */
  readonly trust: ReadonlySet<string> | 'all'
  readonly bash: boolean
  /** True when a program of that name is in the system's directories. */
  isInstalled(name: string): boolean
}

/** Facts that the analysis has met so far, in the order of the line. They only grow. */
export interface Facts {
  /** Links may have been made, moved or put where a directory was. */
  links: boolean
  /** Links may have been made whose targets this analysis has not seen. */
  unchecked: boolean
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
  readonly facts: Facts
  readonly place: Place
  /** Substitutions in the words of this command were given paths of this machine: their messages may hold them. */
  readonly substituted: { hosts: boolean }
  /** Variables of the environment that keep their values in the whole line. */
  readonly constants: ReadonlyMap<string, string>
  readonly source: string
  /** Paths of this machine may be in its standard input. */
  readonly tainted: boolean
  readonly placeholder?: { readonly word: string; readonly known: Known } | undefined
  readonly depth: number
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
export function together(...outcomes: readonly Outcome[]): Outcome {
  return { prints: outcomes.some(({ prints }) => prints), hosts: outcomes.some(({ hosts }) => hosts) }
}

/** Gives `left` itself where `right` adds nothing. */
export function joinDirectories(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  return [...right].every((directory) => left.has(directory)) ? left : new Set([...left, ...right])
}

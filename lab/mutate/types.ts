/** Mutations by the first cell of their row in docs/threat-model.md. */
export type Mutations = Readonly<Record<string, readonly Mutation[]>>

/** One defence taken away, and the test that must notice. */
export type Mutation = Described & (Change | { readonly changes: readonly Change[] })

interface Described {
  readonly removes: string
  /** A regular expression for titles, as vitest's `-t` takes it. Default: every test of the file. */
  readonly title?: string
  /** A test file that the row names. Default: the only one that has such a title. */
  readonly test?: string
}

export interface Change {
  /** Path from the root of the repository. Default: the only file of the row that has the text. */
  readonly file?: string
  /** Occurs exactly once in the file. */
  readonly text: string
  /** Default: nothing. */
  readonly by?: string
}

export interface Located {
  readonly row: string
  readonly removes: string
  /** All are made together. */
  readonly changes: readonly (Change & { readonly file: string })[]
  readonly test: NamedTest
}

export interface NamedTest {
  readonly file: string
  readonly title?: string | undefined
}

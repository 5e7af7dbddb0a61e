/** Mutations by the first cell of their row in docs/threat-model.md. */
export type Mutations = Readonly<Record<string, readonly Mutation[]>>

/** The removal of one defence, and the test that must notice it. */
export type Mutation = Described & (Change | { readonly changes: readonly Change[] })

interface Described {
  readonly removes: string
  /** A regular expression for titles, as in vitest's `-t`. Default: every test of the file. */
  readonly title?: string
  /** A test file that the row names. Default: the only file with such a title. */
  readonly test?: string
}

export interface Change {
  /** Path from the root of the repository. Default: the only file of the row that contains the text. */
  readonly file?: string
  /** A text that occurs exactly once in the file. */
  readonly text: string
  /** The replacement. Default: nothing. */
  readonly by?: string
}

export interface Located {
  readonly row: string
  readonly removes: string
  /** Changes that are made together. */
  readonly changes: readonly (Change & { readonly file: string })[]
  readonly test: NamedTest
}

export interface NamedTest {
  readonly file: string
  readonly title?: string | undefined
}

export type Mutations = Readonly<Record<string, readonly Mutation[]>>

/** The removal of one defence, and the test that must notice it. */
export type Mutation = Described & (Change | { readonly changes: readonly Change[] })

interface Described {
  readonly removes: string
  /** A regular expression for titles, as in vitest's `-t`. Default: every test of the file. */
  readonly title?: string | undefined
  /** A test file that the row names. Default: the first with such a title. */
  readonly test?: string
}

export interface Change {
  /** Path from the root of the repository. Default: the only file of the row with the text, once. */
  readonly file?: string
  readonly text: string
  /** The replacement. Default: nothing. */
  readonly by?: string
}

export interface Located {
  readonly row: string
  readonly removes: string
  readonly changes: readonly (Change & { readonly file: string })[]
  readonly test: NamedTest
}

export interface NamedTest {
  readonly file: string
  readonly title?: string | undefined
}

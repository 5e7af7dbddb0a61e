/** One defence taken away, and the test that must notice. */
export interface Mutation {
  /** The first cell of its row in docs/threat-model.md, as it is written there. */
  readonly row: string
  /** The defence that is removed, in a few words. */
  readonly removes: string
  /** Made together. Each text occurs exactly once in its file. */
  readonly changes: readonly Change[]
  readonly test: NamedTest
}

export interface Change {
  /** Path from the root of the repository. */
  readonly file: string
  readonly text: string
  readonly by: string
}

export interface NamedTest {
  /** A test file that the row names, or that runs the suite of the kit which the row names. */
  readonly file: string
  /** A regular expression for titles, as vitest's `-t` takes it. Default: every test of the file. */
  readonly title?: string
}

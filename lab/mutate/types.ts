/** One defence taken away, and the test that must notice. */
export type Mutation = Described & (Change | { readonly changes: readonly Change[] })

interface Described {
  /** The first cell of its row in docs/threat-model.md, as it is written there. */
  readonly row: string
  /** The defence that is removed, in a few words. */
  readonly removes: string
  readonly test: NamedTest
}

export interface Change {
  /** Path from the root of the repository. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly text: string
  /** Default: nothing. */
  readonly by?: string
}

/** Those of a mutation are made together. */
export function changesOf(mutation: Mutation): readonly Change[] {
  return 'changes' in mutation ? mutation.changes : [mutation]
}

export interface NamedTest {
  /** A test file that the row names, or that runs the suite of the kit which the row names. */
  readonly file: string
  /** A regular expression for titles, as vitest's `-t` takes it. Default: every test of the file. */
  readonly title?: string
}

/** The argument of a test. A test fails by rejecting. */
export interface TestContext {
  /** Ends the test, which counts as skipped. Does not return. */
  readonly skip: (reason: string) => never
}

/** The functions of a test framework that the kit needs. `@ws/conformance/vitest` exports the functions of vitest. */
export interface Runner {
  readonly describe: (title: string, define: () => void) => void
  readonly it: (title: string, test: (context: TestContext) => Promise<void>) => void
}

export interface TestOutcome {
  /** The titles of the groups and the test, outer titles first, joined by ` › `. */
  readonly title: string
  readonly state: 'passed' | 'failed' | 'skipped'
  readonly reason?: string | undefined
  readonly error?: unknown
}

class Skip extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

export interface CollectedTest {
  readonly title: string
  /** Never rejects. */
  run(): Promise<TestOutcome>
}

/** Collects the tests of a suite without a test framework, for scripts and for tests of the kit itself. */
export function collectTests(define: (runner: Runner) => void): CollectedTest[] {
  const tests: CollectedTest[] = []
  const titles: string[] = []
  define({
    describe(title, inner) {
      titles.push(title)
      inner()
      titles.pop()
    },
    it(ownTitle, test) {
      const title = [...titles, ownTitle].join(' › ')
      const skip = (reason: string): never => {
        throw new Skip(reason)
      }
      const run = async (): Promise<TestOutcome> => {
        try {
          await test({ skip })
          return { title, state: 'passed' }
        } catch (error) {
          return error instanceof Skip
            ? { title, state: 'skipped', reason: error.reason }
            : { title, state: 'failed', error }
        }
      }
      tests.push({ title, run })
    },
  })
  return tests
}

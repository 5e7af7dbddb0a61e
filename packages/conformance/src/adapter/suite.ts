import type { AdapterCapabilities } from '@ws/core'
import { ConformanceError } from '../assert.ts'
import type { Runner } from '../runner.ts'
import { Case } from './case.ts'
import type { AdapterSuiteOptions } from './options.ts'

/** What a test needs of the adapter: a value for each capability, or several that will do. */
export type Needs = {
  readonly [Key in keyof AdapterCapabilities]?: AdapterCapabilities[Key] | readonly AdapterCapabilities[Key][]
}

/** Defines the tests of one file of the suite. */
export interface Suite {
  readonly describe: (title: string, define: () => void) => void
  /** A test on a fresh adapter; skipped, with the capability as the reason, where the adapter lacks what it needs. */
  readonly test: (title: string, needs: Needs, run: (it: Case) => Promise<void>) => void
  /** A test of what changes the store: needs `readOnly: false` besides. */
  readonly change: (title: string, needs: Needs, run: (it: Case) => Promise<void>) => void
}

export function createSuite(options: AdapterSuiteOptions, runner: Runner): Suite {
  const test: Suite['test'] = (title, needs, run) => {
    runner.it(title, async ({ skip }) => {
      const fixture = await options.create()
      let lacking: string | undefined
      try {
        lacking = lackOf(needs, fixture.adapter.capabilities)
        if (lacking === undefined) await run(new Case(fixture, options))
      } finally {
        await fixture.adapter.close()
        if (fixture.seed !== undefined) await fixture.seed.close()
        await fixture.dispose?.()
      }
      if (lacking !== undefined) skip(lacking)
    })
  }
  return {
    describe: (title, define) => runner.describe(title, define),
    test,
    change: (title, needs, run) => test(title, { ...needs, readOnly: false }, run),
  }
}

/** The first capability that is not as needed. */
function lackOf(needs: Needs, capabilities: AdapterCapabilities): string | undefined {
  for (const [name, needed] of Object.entries(needs)) {
    const value = (capabilities as unknown as Record<string, unknown>)[name]
    if (value === undefined) throw new ConformanceError(`the capability \`${name}\` is not declared`)
    const accepted: readonly unknown[] = Array.isArray(needed) ? needed : [needed]
    if (!accepted.includes(value)) return `capability ${name}: ${JSON.stringify(value)}`
  }
  return undefined
}

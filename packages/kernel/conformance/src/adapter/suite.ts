import { isWorkspaceError } from '@ws/core'
import { getNativeCause } from '@ws/core/executor'

import { ConformanceError } from '../assert.ts'
import type { Runner } from '../runner.ts'
import { Case } from './case.ts'
import { lackOf, type Needs } from './needs.ts'
import type { AdapterSuiteOptions } from '../options/adapter.ts'

export interface Suite {
  readonly describe: (title: string, define: () => void) => void
  /** Defines a test on a new adapter. A missing capability skips the test, with the capability as the reason. */
  readonly test: (title: string, needs: Needs, run: (it: Case) => Promise<void>) => void
  /** Defines a test that changes the store, and so also needs `readOnly: false`. */
  readonly change: (title: string, needs: Needs, run: (it: Case) => Promise<void>) => void
}

export function createSuite(options: AdapterSuiteOptions, runner: Runner): Suite {
  const test: Suite['test'] = (title, needs, run) => {
    runner.it(title, async ({ skip }) => {
      const fixture = await options.create()
      try {
        const lacking = lackOf(needs, fixture.adapter.capabilities)
        if (lacking !== undefined) skip(lacking)
        await run(new Case(fixture, options, skip))
      } catch (error) {
        throw withOwnError(error)
      } finally {
        await fixture.adapter.close()
        if (fixture.seed !== undefined) await fixture.seed.close()
        await fixture.dispose?.()
      }
    })
  }
  return {
    describe: (title, define) => runner.describe(title, define),
    test,
    change: (title, needs, run) => test(title, { ...needs, readOnly: false }, run),
  }
}

/** Adds the adapter's original error. The message of a fault omits it, because it may contain host paths. */
function withOwnError(error: unknown): unknown {
  const own = isWorkspaceError(error, 'EBACKEND') ? getNativeCause(error) : undefined
  if (own === undefined) return error
  const told = own instanceof Error ? String(own) : typeof own
  return new ConformanceError(`${String(error)}\nThe adapter's code threw: ${told}`)
}

import { afterAll } from 'vitest'

import { CostMeter, type FileCost } from './cost.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** The cost of a test file, when it has ended. */
    cost?: FileCost
  }
}

// files that share a worker share its meter: set-up files are run again for each of them
const known = globalThis as { [key: symbol]: CostMeter | undefined }
const key = Symbol.for('@ws/test-fixtures cost')
const before = known[key]
const meter = before ?? new CostMeter()
if (before === undefined) meter.watch()
else meter.take()
known[key] = meter

// vitest wants an object pattern here, even an empty one
// oxlint-disable-next-line no-empty-pattern
afterAll(({}, suite) => {
  suite.meta.cost = meter.take()
})

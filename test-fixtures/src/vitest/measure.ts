import { afterAll } from 'vitest'

import { CostMeter, type FileCost } from './cost.ts'

declare module 'vitest' {
  interface TaskMeta {
    cost?: FileCost
  }
}

// files that share a worker share its meter: set-up files run again for each file
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

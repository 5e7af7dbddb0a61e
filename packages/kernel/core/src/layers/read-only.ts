import type { StorageAdapter } from '../contract/adapter.ts'
import { contractError } from '../adapter/failures.ts'
import { factsOf } from '../contract/operations.ts'
import { checkLayer, wrapAdapter, type LayerOptions } from './wrap-adapter.ts'

/**
 * Makes a read-only view of the same tree. Every change is `EROFS`, without a call of the inner adapter. Commands see a read-only tree.
 * `createScratch` and `createFork` still work: their files are not part of the tree.
 */
export function readOnly(adapter: StorageAdapter, options: LayerOptions = {}): StorageAdapter {
  const { shared } = checkLayer('readOnly', adapter, options)
  return wrapAdapter(adapter, {
    name: `readOnly(${adapter.name})`,
    capabilities: Object.freeze({ ...adapter.capabilities, readOnly: true }),
    shared,
    async call({ operation, path }, run) {
      if (!factsOf(operation).changes) return run()
      throw contractError('EROFS', operation, path)
    },
    fork: (copy) => copy,
  })
}

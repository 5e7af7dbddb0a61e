import { pooledCalls } from './calls.ts'

/** For what belongs to no adapter's tree: always on the pool. */
export const calls = pooledCalls()

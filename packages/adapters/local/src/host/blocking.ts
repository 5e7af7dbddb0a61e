import { pooledCalls } from './calls.ts'

/** For work outside any adapter's tree: always on the pool. */
export const calls = pooledCalls()

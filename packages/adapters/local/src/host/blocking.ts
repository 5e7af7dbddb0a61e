import { pooledCalls } from './calls.ts'

/** System calls for work outside any adapter's tree. They always run on the pool. */
export const calls = pooledCalls()

export { codeOf } from './code-of.ts'
export { executorRoots, onDisk } from './executor-fixtures.ts'
export { type Attempt, endsInTime, holds } from './in-time.ts'
export { put } from './put.ts'

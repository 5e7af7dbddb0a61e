export { removeTree } from '../remove-tree.ts'
export { createTemporaryDirectory, temporaryRemedy } from '../temporary-directory.ts'
export { createRuntimeDirectory, removeRuntimeDirectory, sweepRuntimeDirectories } from '../runtime-directory.ts'

export { diffTrees, type TreeChange } from './diff.ts'
export { expectDenied, expectFile, expectTree } from './expect.ts'
export type { Fault, FaultSelection, MetFault } from './faults.ts'
export { faulty, type FaultyAdapter } from './faulty.ts'
export { toTree, type TreeOptions, type TreeSource } from './read.ts'
export {
  createTestWorkspace,
  type TestClock,
  type TestWorkspace,
  type TestWorkspaceOptions,
} from './test-workspace.ts'
export { file, link, type FileDetails, type Tree, type TreeEntry } from './tree.ts'
export type { Attempt, ExpectedDenial, FileContent } from './verdict.ts'

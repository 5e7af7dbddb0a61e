export { createTestCgroup, describeWithCgroup, recordGroups, type TestCgroup } from './cgroup.ts'
export { certificate, privateKey } from './certificate.ts'
export { component, componentNames, findSystemProgram, type Component, type ComponentName } from './components.ts'
export { type ContainerOptions, type ContainerResult, defaultCapabilities, runInContainer } from './container.ts'
export {
  asOwner,
  createScratchDirectory,
  give,
  ordinaryOwner,
  type Owner,
  type ScratchDirectory,
  type ScratchDirectoryOptions,
} from './owner.ts'
export { codeOf } from './code-of.ts'
export { openEngine, type TestEngine } from './engine.ts'
export { createMarker, until, withTimeToBegin } from './marker.ts'
export { entriesBelow, meanwhile } from './meanwhile.ts'
export { mountHanging, type HangingMount } from './hanging-mount.ts'
export { type FoundProcess, processesWith } from './processes.ts'
export { atRoots, onDisk } from './on-disk.ts'
export { makeDirectory, put } from './put.ts'
export { seededRandom } from './random.ts'
export { describeWith, itWith } from './skip.ts'
export { installNodes } from './nodes.ts'
export {
  drawAnswer,
  drawFrom,
  drawRequests,
  type Hostile,
  hostileNames,
  hostilePaths,
  type OddAnswer,
  oddAnswers,
  type OddServer,
  openOddServer,
} from './hostile/index.ts'
export { deep, propertyRounds, rounds, type Rounds, tier } from './tier.ts'
export { longestTurn, processorTimeOf, watchTurns, type Turns } from './turns.ts'

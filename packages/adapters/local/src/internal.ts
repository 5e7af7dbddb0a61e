// For `@ws/adapter-rclone`, which writes to its mount past the local adapter, and for directories that `@ws/runner` and
// `@ws/cli` own. Nothing here is a promise to others.
export { HostPaths, Temporary } from '@ws/sandbox'
export { isGone, ownMark, newTempName } from './confine/temp.ts'
export { tempPrefix } from './confine/hidden.ts'
export { factsOfVersion, statOf, versionFrom } from './confine/status.ts'
export { slowMountCalls } from './host/engine.ts'
export { creating } from './host/constants.ts'
export { givenUpScratch } from './root/scratch-places.ts'
export { stateHome } from './host/state-home.ts'

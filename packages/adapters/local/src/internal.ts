// Exports for `@ws/adapter-rclone`, which bypasses this adapter for writes, and `@ws/tree`, which uses its temporary names. Unstable.
export { tempPrefix } from './confine/hidden.ts'
export { isGone, ownMark, newTempName } from './confine/temp.ts'
export { factsOfVersion, statOf, type VersionFacts, versionFrom } from './confine/status.ts'
export { slowMountCalls } from './host/engine.ts'
export { creating } from './host/constants.ts'

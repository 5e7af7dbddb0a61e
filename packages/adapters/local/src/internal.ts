// For `@ws/adapter-rclone`, which writes to its mount past the local adapter, and for `@ws/tree`, whose temporary files bear the
// same names. Nothing here is a promise to others.
export { tempPrefix } from './confine/hidden.ts'
export { isGone, ownMark, newTempName } from './confine/temp.ts'
export { factsOfVersion, statOf, type VersionFacts, versionFrom } from './confine/status.ts'
export { slowMountCalls } from './host/engine.ts'
export { creating } from './host/constants.ts'

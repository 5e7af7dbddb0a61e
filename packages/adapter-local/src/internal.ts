// For `@ws/adapter-rclone` alone, which writes to its mount past the local adapter. Nothing here is a promise to others.
export { isGone, ownMark, newTempName, tempPrefix } from './confine/temp.ts'
export { factsOfVersion, statOf, versionFrom } from './confine/status.ts'
export { slowMountCalls } from './host/engine.ts'
export { creating } from './host/constants.ts'

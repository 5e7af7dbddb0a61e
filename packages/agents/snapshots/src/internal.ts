// For `@ws/adapter-replica`, which scans and changes a disk as checkpoints do. Nothing here is a promise to others.
export { Ahead } from './disk/ahead/ahead.ts'
export { digestContent, fill, isSame, openSeen, pieceBytes, readContent } from './disk/content.ts'
export {
  entryColumns,
  type EntryRow,
  type EntryType,
  type Facts,
  factsOf,
  factsOfRow,
  inodeOf,
  isSameTime,
  valuesOf,
} from './disk/facts.ts'
export { create, makeDirectory, removeDirectory, removeFile, replace } from './disk/restore/acts.ts'
export { mark, markNew } from './disk/restore/marks.ts'
export { changedMeanwhile, pathOf, type Place, Unexpected } from './disk/restore/place.ts'
export { isCovered, Root } from './disk/root.ts'
export { scan } from './disk/scan.ts'
export type { ScanResult } from './disk/scan-options.ts'
export { nameTemporaries, newTemporary } from './disk/temporary.ts'
export { failed, nativeCode } from './errors.ts'
export { Database, type Value } from './store/database.ts'
export { openStateDirectory } from './store/state-directory.ts'
export { ContentName, contentOf } from './store/pack.ts'
export { errorOf, Thread } from './thread.ts'
export type { PlainError } from './worker/protocol.ts'
export { plainError, serve } from './worker/serve.ts'
export { Turnstile } from './turnstile.ts'

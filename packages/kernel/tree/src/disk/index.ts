// Without the thread that starts a worker: what a worker imports is loaded again in each.
export { failed, Failure, nativeCode, nativeFailure, tooMuch } from '../errors.ts'
export { placeOf, readSaved } from '../store/contents.ts'
export { Database, lasting, type Value } from '../store/database.ts'
export { ContentName, contentOf, Packs, type Place as PackPlace } from '../store/pack.ts'
export { openStateDirectory } from '../store/state-directory.ts'
export type { PlainError } from '../worker/protocol.ts'
export { plainError, serve } from '../worker/serve.ts'
export { Ahead } from './ahead/ahead.ts'
export { Attributes } from './attributes.ts'
/** Reads files as a scan saw them. */
export * as Content from './content.ts'
export {
  entryColumns,
  type EntryRow,
  type EntryType,
  type Facts,
  factsOf,
  factsOfRow,
  inodeOf,
  isSameState,
  isSameTime,
  valuesOf,
} from './facts.ts'
/** Makes, replaces and removes entries, where they are as a scan saw them. */
export * as Acts from './restore/acts.ts'
export { mark, markNew } from './restore/marks.ts'
export { changedMeanwhile, pathOf, type Place, Unexpected } from './restore/place.ts'
export { isCovered, nameOf, parentOf, Root, selfOf } from './root.ts'
export { scan } from './scan.ts'
export type { ScanOptions, ScanResult } from './scan-options.ts'
export { nameTemporaries, newTemporary } from './temporary.ts'

export type { AppendOptions as Append, BeginCommandOptions as BeginCommand, ByteRange as Range } from './file-types.ts'
export type { CopyOptions as Copy, CreateDirectoryOptions as CreateDirectory } from './file-types.ts'
export type {
  DeleteOptions as Delete,
  ForkOptions as Fork,
  ListOptions as List,
  MoveOptions as Move,
} from './file-types.ts'
export type { ReadOptions as Read, ReadStreamOptions as ReadStream, RefreshOptions as Refresh } from './file-types.ts'
export type { SearchOptions as Search, SearchQuery as Query, StatOptions as Stat } from './file-types.ts'
export type { WriteOptions as Write } from './file-types.ts'
export type { ChangeHints as Hints, HintOptions as Watch } from './watching.ts'

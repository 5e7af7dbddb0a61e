export type { DriverAppendOptions as Append, DriverCopyOptions as Copy } from './driver.ts'
export type { DriverListOptions as List, DriverMoveOptions as Move, DriverReadOptions as Read } from './driver.ts'
export type {
  DriverDeleteOptions as Delete,
  DriverSearchQuery as Query,
  DriverWriteOptions as Write,
} from './driver.ts'
export type { CreateDirectory, Fork, Refresh, Search, Watch } from './adapter-options.ts'

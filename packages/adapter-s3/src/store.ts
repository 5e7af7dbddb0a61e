import type { MountPath } from '@ws/core'
import type { Requests } from './client/requests.ts'
import type { S3Dialect } from './dialect/dialect.ts'
import type { DirectoryHints } from './directories/hints.ts'
import type { KeySpace } from './keys/key-space.ts'
import type { WriteHistory } from './objects/history.ts'
import type { S3Problem, TransferProgress } from './reports.ts'

/** What every operation of one adapter works with. */
export interface Store {
  readonly bucket: string
  readonly keys: KeySpace
  readonly dialect: S3Dialect
  readonly requests: Requests
  readonly hints: DirectoryHints
  readonly history: WriteHistory
  /** `.rclonelink` objects are links. */
  readonly links: boolean
  /** Bytes of one part of a large upload. */
  readonly partBytes: number
  /** Requests at a time in one operation on many objects. */
  readonly concurrency: number
  readonly report: (problem: S3Problem) => void
  readonly progress: (progress: TransferProgress) => void
}

/** The name of an object among all that this process works on. */
export function objectName({ bucket, keys }: Store, path: MountPath): string {
  return `${bucket}/${keys.key(path)}`
}

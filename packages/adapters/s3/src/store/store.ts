import type { PutObjectCommandInput } from '@aws-sdk/client-s3'
import type { Requests, Task } from '../client/requests.ts'
import type { StartFacts, UploadFacts } from '../dialect.ts'
import type { DirectoryHints } from './hints.ts'
import type { KeySpace } from '../keys/key-space.ts'
import type { FileDefaults } from '../headers/attributes.ts'
import type { WriteHistory } from './history.ts'
import type { S3Problem, TransferProgress } from '../reports.ts'

export type WriteHeaders = Pick<PutObjectCommandInput, 'ServerSideEncryption' | 'SSEKMSKeyId' | 'StorageClass'>

export interface Store {
  readonly bucket: string
  readonly keys: KeySpace
  readonly dialect: StartFacts
  /** Further facts, which need requests the first time. */
  readonly uploadFacts: (task: Task) => Promise<UploadFacts>
  readonly requests: Requests
  readonly hints: DirectoryHints
  readonly history: WriteHistory
  readonly defaults: FileDefaults
  /** Headers of all writes: encryption, storage class. */
  readonly extra: WriteHeaders
  readonly copyPartBytes: number
  /** True if `.rclonelink` objects are links. */
  readonly links: boolean
  readonly partBytes: number
  readonly concurrency: number
  readonly report: (problem: S3Problem) => void
  readonly progress: (progress: TransferProgress) => void
}

/** The name of an object for locks in this process. */
export function objectName({ bucket }: Store, key: string): string {
  return `${bucket}/${key}`
}

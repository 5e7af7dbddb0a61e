import type { CallOptions, Control } from './client.ts'
import { asText } from './text.ts'

/** The state of rclone's cache, as rclone reports it. */
export interface CacheStats {
  /** The store's part as rclone names it: bucket and prefix. */
  readonly fs: string
  /** Host path of a directory with a small note for each file of the cache. */
  readonly metadata: string
  /** Host path of a directory with the contents of the cache's files. */
  readonly content: string
  readonly uploading: number
  readonly queued: number
  readonly failing: number
  readonly files: number
  readonly bytes: number
  readonly outOfSpace: boolean
}

export async function readStats(control: Control, options: CallOptions = {}): Promise<CacheStats> {
  const answer = await control.call('vfs/stats', {}, options)
  const cache = (answer['diskCache'] ?? {}) as Readonly<Record<string, unknown>>
  const count = (name: string): number => Number(cache[name] ?? 0)
  return {
    fs: asText(answer['fs']),
    metadata: asText(cache['pathMeta']),
    content: asText(cache['path']),
    uploading: count('uploadsInProgress'),
    queued: count('uploadsQueued'),
    failing: count('erroredFiles'),
    files: count('files'),
    bytes: count('bytesUsed'),
    outOfSpace: cache['outOfSpace'] === true,
  }
}

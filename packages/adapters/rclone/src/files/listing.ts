import { isWorkspaceError } from '@ws/core'
import { concurrency, type Entry, type MountPath, type AdapterOptions } from '@ws/core/adapter'
import { statSync } from 'node:fs'
import { join } from 'node:path'

import type { Open } from '../part/opened.ts'
import { settled } from './versions.ts'

type ListOptions = AdapterOptions.List

/** Limit of entries whose details are requested ahead, while the caller waits for one of them. */
const detailsAhead = 16

/** Milliseconds after a cache note within which the file's upload may still run, with a wide margin. */
const inFlightMs = 600_000

/** A listing remembers up to this many names of any file. After that, only names of files that may still be uploading. */
const maxRemembered = 10_000

/**
 * Lists each path once, because rclone briefly shows a file twice if it is renamed during its upload. The first names are all
 * remembered, since the cache may still know such a file by its old name. Of later names, only files in upload are remembered.
 */
export async function* listed(open: Open, path: MountPath, options: ListOptions): AsyncGenerator<Entry, undefined> {
  const seen = new Set<MountPath>()
  for await (const entry of entriesOf(open, path, options)) {
    if (seen.has(entry.path)) continue
    if (seen.size < maxRemembered || (entry.type === 'file' && isInFlight(join(open.metadata, entry.path)))) {
      seen.add(entry.path)
    }
    yield entry
  }
  return undefined
}

/** @param metadata host path of the cache's note, which records each rename and each upload of a file */
function isInFlight(metadata: string): boolean {
  try {
    const status = statSync(metadata, { throwIfNoEntry: false })
    return status !== undefined && Date.now() - status.mtimeMs < inFlightMs
  } catch {
    return true // the name is too long there, or the entry is no file
  }
}

/** Fetches details by the shortest way, several at a time, since each is a request to the mount. */
async function* entriesOf(open: Open, path: MountPath, options: ListOptions): AsyncGenerator<Entry, undefined> {
  if (options.details !== true) return yield* open.files.list(path, options)
  const entries = open.files.list(path, { ...options, details: false })
  for await (const entry of concurrency.mapInOrder(entries, detailsAhead, (one) => withDetails(open, one))) {
    if (entry !== undefined) yield entry
  }
  return undefined
}

/** Adds details to an entry. Resolves to `undefined` if the entry has vanished. */
async function withDetails({ direct, metadata }: Open, entry: Entry): Promise<Entry | undefined> {
  const { path, name } = entry
  if (entry.unreachable === true) return entry
  try {
    return { path, name, ...(await settled(join(metadata, path), await direct.stat(path))) }
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return undefined
    throw error
  }
}

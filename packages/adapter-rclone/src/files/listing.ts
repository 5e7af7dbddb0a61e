import { type Entry, type ListOptions, type MountPath, isWorkspaceError, mapInOrder } from '@ws/core'
import { join } from 'node:path'

import type { Open } from '../opened.ts'
import { settled } from './versions.ts'

/** Entries of which the details are on their way: while one is waited for, the next ones are asked for. */
const detailsAhead = 16

/** A listing that names each path once: rclone shows a file twice for a moment that is renamed while it is uploaded. */
export async function* listed(open: Open, path: MountPath, options: ListOptions): AsyncGenerator<Entry, undefined> {
  const seen = new Set<MountPath>()
  for await (const entry of entriesOf(open, path, options)) {
    if (seen.has(entry.path)) continue
    seen.add(entry.path)
    yield entry
  }
  return undefined
}

/** Details come by the shortest way there is, several at a time, since each is a question to the mount. */
async function* entriesOf(open: Open, path: MountPath, options: ListOptions): AsyncGenerator<Entry, undefined> {
  if (options.details !== true) return yield* open.files.list(path, options)
  const entries = open.files.list(path, { ...options, details: false })
  for await (const entry of mapInOrder(entries, detailsAhead, (one) => describe(open, one))) {
    if (entry !== undefined) yield entry
  }
  return undefined
}

/** `undefined`: it vanished meanwhile. */
async function describe({ direct, metadata }: Open, entry: Entry): Promise<Entry | undefined> {
  const { path, name } = entry
  if (entry.unreachable === true) return entry
  try {
    return { path, name, ...(await settled(join(metadata, path), await direct.stat(path))) }
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return undefined
    throw error
  }
}

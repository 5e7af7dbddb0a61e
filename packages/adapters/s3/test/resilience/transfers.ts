import { isWorkspaceError, paths, type Version, type WorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { FileState } from './known-files.ts'
import type { Event } from './register.ts'

/** A version that was seen, and its state. */
export interface KnownVersion {
  readonly version: Version
  readonly state: FileState
}

/** An event of one file. */
type FileEvent = readonly [path: string, event: Omit<Event, 'client' | 'operation' | 'start' | 'end'>]

export interface TransferEnds {
  /** Copied in this version only: so it is known what arrives. */
  readonly from: { readonly path: string; readonly known: KnownVersion }
  /** Absent: whatever is there is replaced. */
  readonly to: { readonly path: string; readonly condition: KnownVersion | 'absent' | undefined }
}

/** Copies or moves a file, and reports the effect on both ends. `version` is the version at the destination. */
export async function transfer(
  adapter: StorageAdapter,
  operation: 'copy' | 'move',
  { from, to }: TransferEnds,
): Promise<{ readonly events: readonly FileEvent[]; readonly version?: Version | undefined }> {
  const { state, version: ifSource } = from.known
  const condition = typeof to.condition === 'object' ? to.condition.state : to.condition
  const arrival = { value: state, ...(condition === undefined ? {} : { condition }) }
  // gone by this move, or removed by another client after it was copied
  const departure = { value: 'absent', condition: state, orAbsent: true } as const
  const ifDestination = typeof to.condition === 'object' ? to.condition.version : undefined
  try {
    const options = { ifSource, overwrite: condition !== 'absent', ...(ifDestination && { ifDestination }) }
    const { version } = await adapter[operation](paths.parseMount(from.path), paths.parseMount(to.path), options)
    const left: FileEvent =
      operation === 'move'
        ? [from.path, { ...departure, outcome: 'done' }]
        : [from.path, { seen: state, outcome: 'done' }]
    return { events: [[to.path, { ...arrival, outcome: 'done' }], left], version }
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return { events: eventsOf(error) }
  }

  function eventsOf({ code, path, partial, message }: WorkspaceError): FileEvent[] {
    const isSource = path === from.path
    // it was copied, and the source could not be deleted
    if (partial !== undefined) {
      const outcome = code === 'ECONFLICT' ? 'refused' : 'unknown'
      return [
        [to.path, { ...arrival, outcome: 'done' }],
        [from.path, { value: 'absent', condition: state, outcome }],
      ]
    }
    if (code === 'ENOENT' && isSource) return [[from.path, { seen: 'absent', outcome: 'done' }]]
    if (code === 'ECONFLICT' && isSource)
      return [[from.path, { value: 'absent', condition: state, outcome: 'refused' }]]
    if (code === 'ECONFLICT' || (code === 'EEXIST' && !isSource)) return [[to.path, { ...arrival, outcome: 'refused' }]]
    if (code !== 'EIO' && code !== 'ETIMEDOUT') throw new Error(`${operation} of ${from.path}: ${message}`)
    const arrived: FileEvent = [to.path, { ...arrival, outcome: 'unknown' }]
    if (operation === 'copy') return [arrived]
    return [arrived, [from.path, { value: 'absent', condition: state, outcome: 'unknown' }]]
  }
}

/** Which of the files a listing names: each at most once, and nothing else. None when it fails. */
export async function listingEvents(
  adapter: StorageAdapter,
  known: readonly string[],
): Promise<(readonly [path: string, seen: 'something' | 'absent'])[]> {
  const seen = new Set<string>()
  try {
    for await (const { path, type } of adapter.list(paths.parseMount('/'), { recursive: true })) {
      if (seen.has(path)) throw new Error(`${path} is listed twice`)
      if (type === 'file' && !known.includes(path)) throw new Error(`${path} is listed, and was never there`)
      seen.add(path)
    }
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    if (error.code !== 'EIO' && error.code !== 'ETIMEDOUT') throw error
    return []
  }
  return known.map((path) => [path, seen.has(path) ? 'something' : 'absent'] as const)
}

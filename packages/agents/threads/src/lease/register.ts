import { isWorkspaceError, paths, WorkspaceError, type Version } from '@ws/core'
import { type MountPath, type SignalOption, signals, type StorageAdapter } from '@ws/core/adapter'

import { decodeRecord, encodeRecord, type LeaseRecord } from './record.ts'

export interface VersionedRecord {
  readonly record: LeaseRecord
  readonly version: Version
}

export interface Register {
  read(path: MountPath, options: SignalOption): Promise<VersionedRecord | undefined>
  /** Without `ifVersion`, no record may exist yet. Rejects with `ECONFLICT`. */
  replace(path: MountPath, record: LeaseRecord, options: ReplaceOptions): Promise<Version>
  /** Makes a new version of the record without needing space. Absent for stores where each change is a request anyway. */
  touch?(path: MountPath, options: ReplaceOptions & { readonly ifVersion: Version }): Promise<Version>
}

export interface ReplaceOptions extends SignalOption {
  readonly ifVersion: Version | undefined
}

const maxBytes = 64 * 1024

const unending = new AbortController().signal
signals.urgent.add(unending)

export function objectRegister(adapter: StorageAdapter): Register {
  return {
    read: (path, { signal }) => readOrNothing(adapter, path, signal),
    async replace(path, record, { ifVersion = 'absent', signal }) {
      // the read before this write has shown the entry and its parents
      const options = { ifVersion, listed: true, parents: true, signal }
      const { version } = await adapter.write(path, encodeRecord(record), options)
      return version
    },
  }
}

/** Keeps each version in a file, `{path}.7` after `{path}.6`: only creation is exclusive. The highest number is the valid record. */
export function fileRegister(adapter: StorageAdapter): Register {
  const numbers = async (path: MountPath, signal: AbortSignal | undefined): Promise<number[]> => {
    const parent = paths.parent(path)
    const begin = path.slice(parent === '/' ? 1 : parent.length + 1)
    const found: number[] = []
    try {
      for await (const { name } of adapter.list(parent, { signal })) {
        const number = name.startsWith(`${begin}.`) ? name.slice(begin.length + 1) : ''
        if (/^[1-9][0-9]{0,14}$/.test(number)) found.push(Number(number))
      }
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    return found.sort((left, right) => right - left)
  }
  const at = (path: MountPath, number: number): MountPath => paths.parseMount(`${path}.${number}`, 'lease')
  /** Removes lower numbers. A higher number shows that a late writer recreated a removed file: this writer then rejects with a conflict. */
  const settle = async (path: MountPath, number: number, signal: AbortSignal | undefined): Promise<Version> => {
    const [highest = number, ...others] = await numbers(path, signal)
    if (highest > number) {
      await adapter.delete(at(path, number), { force: true, signal: unending })
      throw conflict(path)
    }
    // a number that could not be deleted is removed by a later write
    for (const other of others)
      await adapter.delete(at(path, other), { force: true, signal: unending }).catch(() => undefined)
    return String(number) as Version
  }
  const next = (version: Version | undefined): number => Number(version ?? 0) + 1

  return {
    async read(path, { signal }) {
      for (;;) {
        const [highest] = await numbers(path, signal)
        if (highest === undefined) return undefined
        const found = await readOrNothing(adapter, at(path, highest), signal)
        if (found !== undefined) return { record: found.record, version: String(highest) as Version }
        // the file is gone: a higher number has replaced this number
      }
    },
    async replace(path, record, { ifVersion, signal }) {
      const number = next(ifVersion)
      const options = { ifVersion: 'absent', parents: true, signal, mode: 0o600 } as const // @defence `ifVersion: 'absent', ` two writers of one thread: in a directory exclude each other
      await adapter.write(at(path, number), encodeRecord(record), options)
      return settle(path, number, signal)
    },
    async touch(path, { ifVersion, signal }) {
      const number = next(ifVersion)
      try {
        await adapter.move(at(path, number - 1), at(path, number), { signal })
      } catch (error) {
        throw isMissing(error) || isWorkspaceError(error, 'EEXIST') ? conflict(path) : error
      }
      return settle(path, number, signal)
    },
  }
}

async function readOrNothing(
  adapter: StorageAdapter,
  path: MountPath,
  signal: AbortSignal | undefined,
): Promise<VersionedRecord | undefined> {
  try {
    const { bytes, stat } = await adapter.read(path, { signal, maxBytes })
    return { record: decodeRecord(path, bytes), version: stat.version }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')
}

function conflict(path: MountPath): WorkspaceError {
  return new WorkspaceError({ code: 'ECONFLICT', operation: 'lease', path, reason: 'was changed by another process' })
}

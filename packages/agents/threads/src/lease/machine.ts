import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'

import { WorkspaceError } from '@ws/core'
import { z } from 'zod'

import { heldError, lostError } from './errors.ts'
import { holderName } from './holder.ts'
import type { AcquireOptions, Lease, LeaseHolder, LeaseStore } from './types.ts'

export interface MachineLeaseOptions {
  readonly key: string
  /** A directory on a local disk. */
  readonly directory: string
}

const pollMs = 50

const sidecarSchema = z.object({
  holder: z.object({ name: z.string(), since: z.number() }),
  notes: z.record(z.string(), z.string()),
})
type Sidecar = z.output<typeof sidecarSchema>

/** Leases among one user's processes on this machine: SQLite transactions that end with their process. A file names the holder. */
export function createMachineLeases({ key, directory }: MachineLeaseOptions): LeaseStore {
  const folder = join(directory, key)
  const held = new Set<Lease>()

  const acquire = async (name: string, { wait = 0, signal }: AcquireOptions = {}): Promise<Lease> => {
    const path = join(folder, name.replaceAll('/', '~'))
    await makeDirectory(folder)
    const deadline = performance.now() + wait
    for (;;) {
      signal?.throwIfAborted()
      const database = lock(`${path}.sqlite`)
      if (database === undefined) {
        if (performance.now() >= deadline) throw heldError(name, await holderOf(path))
        await delay(pollMs, undefined, { signal })
        continue
      }
      try {
        const holder: LeaseHolder = { name: holderName(), since: Date.now() }
        const notes = (await readSidecar(path))?.notes ?? {}
        await writeSidecar(path, { holder, notes })
        const lease = hold({ name, path, database, holder, notes, onEnd: () => held.delete(lease) })
        held.add(lease)
        return lease
      } catch (error) {
        database.close()
        throw error
      }
    }
  }

  return {
    scope: 'machine',
    acquire,
    async holder(name) {
      const path = join(folder, name.replaceAll('/', '~'))
      await makeDirectory(folder)
      const database = lock(`${path}.sqlite`)
      database?.close()
      return database === undefined ? holderOf(path) : undefined
    },
    async close() {
      await Promise.all([...held].map((lease) => lease.release()))
    },
  }
}

interface Held {
  readonly name: string
  readonly path: string
  readonly database: DatabaseSync
  readonly holder: LeaseHolder
  readonly notes: Readonly<Record<string, string>>
  readonly onEnd: () => void
}

function hold({ name, path, database, holder, notes: first, onEnd }: Held): Lease {
  const lost = new AbortController()
  let notes = first
  const isHeld = (): boolean => database.isOpen
  const release = async (): Promise<void> => {
    if (!isHeld()) return
    database.close()
    onEnd()
  }
  return {
    name,
    holder,
    lost: lost.signal,
    isHeld,
    get notes() {
      return notes
    },
    async writeNotes(next) {
      if (!isHeld()) throw lostError(name)
      await writeSidecar(path, { holder, notes: { ...next } })
      notes = { ...next }
    },
    release,
    [Symbol.asyncDispose]: release,
  }
}

/** Locks a file; `undefined` when another connection has the lock. The lock lasts until the database is closed, or its process ends. */
function lock(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    const code = (error as { errcode?: unknown }).errcode
    if (code === 5) return undefined // SQLITE_BUSY
    throw unusable(error)
  }
}

async function makeDirectory(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw unusable(error)
  }
}

async function holderOf(path: string): Promise<LeaseHolder> {
  // the lock is held anyway; only the name of the holder is unknown
  return (await readSidecar(path).catch(() => undefined))?.holder ?? { name: 'another process', since: Number.NaN }
}

async function readSidecar(path: string): Promise<Sidecar | undefined> {
  let text: string
  try {
    text = await readFile(`${path}.json`, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unusable(error) // otherwise, the next holder would overwrite the notes
  }
  try {
    return sidecarSchema.parse(JSON.parse(text))
  } catch {
    return undefined // a file torn by a crash has no meaning for the lock itself
  }
}

async function writeSidecar(path: string, sidecar: Sidecar): Promise<void> {
  try {
    await writeFile(`${path}.new`, JSON.stringify(sidecar), { mode: 0o600 })
    await rename(`${path}.new`, `${path}.json`)
  } catch (error) {
    throw unusable(error)
  }
}

function unusable(error: unknown): WorkspaceError {
  return new WorkspaceError({
    code: 'EIO',
    operation: 'acquire',
    reason: 'the directory for leases cannot be used',
    remedy: 'give one on a local disk that this process can write',
    native: error,
  })
}

import type { MountPath } from '@ws/core/adapter'
import { contentOf } from '@ws/tree/disk'

import { largeBytes } from '../worker/protocol.ts'
import { headBytes, joinedLog } from './joined-log.ts'
import { pushEntry } from './push.ts'
import { isChanged } from './remote.ts'
import { agree, factsToPush, type Site, type Step, type StepOptions } from './site.ts'

/** Limit of bytes in memory for a log, or a database with its log. */
const mostBytes = 4 * largeBytes

type Joined = Buffer | 'changed' | undefined

/**
 * Prepares the store for the new bytes of a SQLite database. A log that this machine extended also fits the old database, and is pushed
 * first. Any other log is replaced by a joined log, which fits both. For large databases, the old log is emptied instead.
 */
export async function pushLog(site: Site, database: MountPath, options: StepOptions): Promise<Step> {
  const { store, tree, disk, isBusy } = site
  const { signal, held } = options
  const log = `${database}-wal` as MountPath
  const base = tree.base.get(log)
  const facts = factsToPush(site, log, held)
  const whole = factsToPush(site, database, held)
  const isThere = base?.type === 'file' && base.size > 0
  if ((!isThere && (facts?.size ?? 0) === 0) || base?.content === facts?.content) return 'done'
  if (whole?.type !== 'file' || tree.base.get(database)?.content === whole.content) return 'done'
  try {
    if (isThere && facts?.type === 'file' && facts.size >= base.size && facts.size <= mostBytes) {
      const ours = held?.get(log)?.bytes ?? (await disk.ask('read', log, isBusy()))
      if (ours === undefined) return 'changed'
      const range = { offset: 0, length: headBytes }
      const { bytes } = await store.read(log, { range, ifVersion: base.version, signal })
      if (Buffer.compare(bytes, ours.subarray(0, headBytes)) === 0) return await pushEntry(site, log, options)
    }
    const joined = await joinedLogOf(site, database, held)
    if (joined === 'changed') return 'changed'
    if (joined !== undefined) {
      const known = { ...whole, size: joined.length, content: contentOf(joined) }
      return await pushEntry(site, log, { ...options, held: new Map([[log, { facts: known, bytes: joined }]]) })
    }
    if (!isThere) return 'done'
    const empty = new Uint8Array()
    const { version } = await store.write(log, empty, { ifVersion: base.version, listed: true, signal })
    await agree(site, [{ ...base, version, content: contentOf(empty), size: 0 }])
    return 'done'
  } catch (error) {
    if (isChanged(error)) return 'differs'
    throw error
  }
}

/** The joined log of this machine's database, unless the files are too large. */
export async function joinedLogOf(site: Site, database: MountPath, held?: StepOptions['held']): Promise<Joined> {
  const files: Uint8Array[] = []
  let size = 0
  for (const path of [database, `${database}-wal` as MountPath]) {
    const facts = factsToPush(site, path, held)
    size += facts?.size ?? 0
    if (size > mostBytes || (path === database && facts?.type !== 'file')) return undefined
    if (facts?.type !== 'file') continue
    const bytes = held?.get(path)?.bytes ?? (await site.disk.ask('read', path, site.isBusy()))
    if (bytes === undefined) return 'changed'
    files.push(bytes)
  }
  return joinedLog(Buffer.concat(files.slice(0, 1)), Buffer.concat(files.slice(1)))
}

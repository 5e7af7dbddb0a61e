import type { MountPath } from '@ws/core/adapter'
import { contentOf } from '@ws/tree/disk'

import { largeBytes } from '../worker/protocol.ts'
import { pushEntry } from './push.ts'
import { isChanged } from './remote.ts'
import { agree, factsToPush, type Site, type Step, type StepOptions } from './site.ts'

/** Bytes at the start of a log of SQLite. A log that was begun anew has others. */
const headBytes = 32

/**
 * Makes the store ready for the new bytes of a SQLite database. A log that this machine has written on goes first, and fits the old
 * database too. Any other log in the store fits the old database alone: it is emptied.
 */
export async function pushLog(site: Site, database: MountPath, options: StepOptions): Promise<Step> {
  const { store, tree, disk, isBusy } = site
  const { signal, held } = options
  const log = `${database}-wal` as MountPath
  const base = tree.base.get(log)
  const facts = factsToPush(site, log, held)
  if (base?.type !== 'file' || base.size === 0 || base.content === facts?.content) return 'done'
  if (tree.base.get(database)?.content === factsToPush(site, database, held)?.content) return 'done'
  try {
    if (facts?.type === 'file' && facts.size >= base.size && facts.size <= 4 * largeBytes) {
      const ours = held?.get(log)?.bytes ?? (await disk.ask('read', log, isBusy()))
      if (ours === undefined) return 'changed'
      const range = { offset: 0, length: headBytes }
      const { bytes } = await store.read(log, { range, ifVersion: base.version, signal })
      if (Buffer.compare(bytes, ours.subarray(0, headBytes)) === 0) return await pushEntry(site, log, options)
    }
    const empty = new Uint8Array()
    const { version } = await store.write(log, empty, { ifVersion: base.version, listed: true, signal })
    await agree(site, [{ ...base, version, content: contentOf(empty), size: 0 }])
    return 'done'
  } catch (error) {
    if (isChanged(error)) return 'differs'
    throw error
  }
}

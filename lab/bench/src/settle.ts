import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { median } from './measure.ts'

/** Milliseconds for which ext4 without a journal does not use a freed inode again, and a little more. */
const memory = 6_000
/** Microseconds for creating a file above which the file system is still busy with what was deleted. */
const slow = 150
const probes = 15

let count = 0

/** Waits until ext4 forgot its deletions: it passes freed inodes for five seconds, and a creation takes a millisecond. */
export async function settle(directory: string): Promise<void> {
  const times: number[] = []
  for (let probe = 0; probe < probes; probe += 1) {
    const path = join(directory, `probe-${(count += 1)}`) // stays, so as not to be one more deletion
    const start = performance.now()
    closeSync(openSync(path, 'wx'))
    times.push((performance.now() - start) * 1_000)
  }
  if (median(times) > slow) await delay(memory)
}

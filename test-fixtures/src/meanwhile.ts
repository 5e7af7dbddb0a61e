import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'

import { onTestFinished } from 'vitest'

/** Runs endless code with `fs` in a thread until the test ends. Resolves when it runs. */
export async function meanwhile(code: string): Promise<{ readonly stop: () => Promise<unknown> }> {
  const worker = new Worker(
    `const fs = require('node:fs'); const { parentPort } = require('node:worker_threads'); parentPort.postMessage(''); ${code}`,
    { eval: true },
  )
  onTestFinished(async () => void (await worker.terminate()))
  await new Promise((resolve) => worker.once('message', resolve))
  return { stop: () => worker.terminate() }
}

/** Every entry below a directory, sorted: its name with bits, owner, time and inode. */
export function entriesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { mode, uid, mtimeMs, ino } = lstatSync(join(directory, name))
      return `${name} ${mode} ${uid} ${mtimeMs} ${ino}`
    })
}

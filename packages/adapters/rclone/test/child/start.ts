import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { onTestFinished } from 'vitest'

import type { RcloneAdapterOptions } from '../../src/index.ts'

export interface Holder {
  readonly child: ChildProcess
  /** The paths that the child has reported as written. */
  readonly written: string[]
  /** Resolves when all of it is. */
  readonly done: Promise<void>
}

/** Another process with a mount of its own. */
export function startHolder(options: RcloneAdapterOptions, files: Readonly<Record<string, string>>): Holder {
  const script = fileURLToPath(new URL('holder.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=@ws/source', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const written: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => (line === 'done' ? resolve() : written.push(line)))
  child.once('exit', () => reject(new Error('it ended')))
  promise.catch(() => undefined) // it may have no caller that waits
  child.stdin.end(JSON.stringify({ options, files }))
  return { child, written, done: promise }
}

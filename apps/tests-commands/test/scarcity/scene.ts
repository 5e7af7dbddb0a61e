import { createScratchDirectory } from '@ws/test-fixtures'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const script = fileURLToPath(new URL('main.ts', import.meta.url))

export interface SceneOptions {
  /** The thing that runs short: a key of `leavers`. */
  readonly scarce: string
  readonly door: string
  /** How much of it is left, in turn. */
  readonly lefts: readonly number[]
  /** For `ulimit`, such as `-n 400`. */
  readonly limit?: string
}

export interface SceneReport {
  /** Errors without a code or a remedy, wrong answers, and calls that fail with plenty again. */
  readonly faults: readonly string[]
  /** How often a call answered (`done`), and how often it was refused with each code. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly before: unknown
  readonly after: unknown
}

/** Uses a workspace in a process of its own. Rejects when that ends, by a rejection that nobody handles for instance. */
export async function runScene({ scarce, door, lefts, limit = '-c 0' }: SceneOptions): Promise<SceneReport> {
  await using directory = await createScratchDirectory()
  const node = [process.execPath, '--unhandled-rejections=strict', '--conditions=@ws/source', script]
  const words = [...node, directory.path, scarce, door, lefts.join()]
  const { stdout } = await run('/bin/sh', ['-c', `ulimit ${limit} && exec "$@"`, 'sh', ...words], {
    maxBuffer: 2 ** 24,
  })
  return JSON.parse(stdout) as SceneReport
}

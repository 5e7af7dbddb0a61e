import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { Scarce } from './leave.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('main.ts', import.meta.url))

export interface SceneOptions {
  readonly scarce: Scarce
  /** The name of a door, or `files`. */
  readonly door: string
  /** How much is left, one after another. */
  readonly lefts: readonly number[]
}

export interface SceneReport {
  /** The faults: an answer without a code or a remedy, or a call that still fails with plenty. */
  readonly faults: readonly string[]
  /** How often each outcome was seen: `done` or a code. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly before: unknown
  readonly after: unknown
}

/** For `prlimit`. The other kinds have a file system of their own, in memory, which is all that they can use. */
const limits: Readonly<Partial<Record<Scarce, string>>> = {
  descriptors: '--nofile=400',
  // It counts all processes and threads of a user: so the user has no others.
  processes: '--nproc=160',
}
const disks: Readonly<Partial<Record<Scarce, string>>> = {
  bytes: 'size=16m',
  inodes: 'size=64m,nr_inodes=600',
}

/** Uses a workspace in a process of its own. Rejects when the process ends, for instance by an unhandled rejection. */
export async function runScene({ scarce, door, lefts }: SceneOptions): Promise<SceneReport> {
  const uid = scarce === 'processes' ? 2_000_000 + process.pid : ordinaryOwner().uid
  await using directory = await createScratchDirectory({ owner: { uid, gid: uid } })
  const node = [process.execPath, '--unhandled-rejections=strict', '--conditions=@ws/source', script]
  const words = [...node, directory.path, scarce, door, lefts.join()]
  const disk = disks[scarce]
  const user = scarce === 'processes' ? ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'] : []
  const limited = limits[scarce] === undefined ? [] : ['prlimit', limits[scarce]]
  const mounting = ['unshare', '--mount', 'sh', '-c', `mount -t tmpfs -o ${disk},mode=755 scarce "$0" && exec "$@"`]
  const prefix = disk === undefined ? [] : [...mounting, directory.path]
  const [program = '', ...rest] = [...prefix, ...user, ...limited, ...words]
  const env = { ...process.env, TMPDIR: directory.path, WS_STATE_DIRECTORY: join(directory.path, 'state') }
  const { stdout } = await run(program, rest, { maxBuffer: 2 ** 24, env })
  return JSON.parse(stdout) as SceneReport
}

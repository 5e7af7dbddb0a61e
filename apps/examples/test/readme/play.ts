import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { Owner } from '@ws/test-fixtures'

import type { Example } from './extract.ts'
import { openStore } from './store.ts'

export interface PlayOptions {
  /** A directory that has the packages which the example imports. */
  readonly project: string
  /** The program of Node. */
  readonly node: string
  /** Default: the user of this process. */
  readonly user?: Owner | undefined
}

/** Runs an example in an empty directory below the project, and gives the lines that it printed. */
export async function playExample(example: Example, { project, node, user }: PlayOptions): Promise<string[]> {
  const directory = await mkdtemp(join(project, 'run-'))
  await chmod(directory, 0o755) // as the directory of a project: commands may run as another user
  await writeFile(join(directory, 'example.ts'), example.code)
  if (user !== undefined) await chown(directory, user.uid, user.gid)
  await using store = await openStore(example.store)
  const { PATH } = process.env
  // examples that import the same do not compile it again; another user cannot write there
  const cache = join(project, `compiled-${user?.uid ?? 'self'}`)
  await mkdir(cache, { recursive: true })
  if (user !== undefined) await chown(cache, user.uid, user.gid)
  const env = { PATH, HOME: directory, NODE_COMPILE_CACHE: cache, ...store.env }
  const { stdout } = await promisify(execFile)(node, ['example.ts'], { cwd: directory, env, ...user })
  return stdout.split('\n')
}

/** An ordinary user may have no right to mount. */
export const mounts = ({ code }: Example): boolean => code.includes('@ws/adapter-rclone')

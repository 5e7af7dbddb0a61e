import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'

import { findProgram, howToInstall } from '@ws/sandbox'

import { failure } from '../errors.ts'
import { type Version, oldest, readVersion, show } from './features.ts'

const execute = promisify(execFile)
const operation = 'createRcloneAdapter'
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export interface FoundRclone {
  readonly path: string
  readonly version: Version
}

/** Finds rclone and its version. @throws WorkspaceError `ENOTSUP` when it is missing, too old, or does not run */
export async function findRclone(given: string | undefined, signal?: AbortSignal): Promise<FoundRclone> {
  const path = given ?? (await findProgram('rclone', { versionArguments: null, signal }))?.path
  if (path === undefined) throw missing('rclone is not installed')
  const version = readVersion(await askVersion(path, signal))
  if (version === undefined) throw missing('the program that was found as rclone does not report its version')
  if (isOlder(version)) throw missing(`rclone ${show(version)} is too old; ${show(oldest)} or later is needed`)
  return { path, version }
}

/** Version texts by program path and last change, so that the next mount starts no program. */
const answers = new Map<string, string>()

async function askVersion(path: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    const { ctimeNs, ino } = await stat(path, { bigint: true })
    const key = `${path} ${ino} ${ctimeNs}`
    const known = answers.get(key)
    if (known !== undefined) return known
    const { stdout } = await execute(path, ['version'], {
      signal,
      timeout: 10_000,
      env: { PATH: process.env['PATH'], HOME: '/nonexistent', RCLONE_CONFIG: '/nonexistent' },
    })
    answers.set(key, stdout)
    return stdout
  } catch (error) {
    signal?.throwIfAborted()
    throw missing('rclone cannot be run', error)
  }
}

function isOlder([major, minor, patch]: Version): boolean {
  const [oldMajor, oldMinor, oldPatch] = oldest
  return (major - oldMajor || minor - oldMinor || patch - oldPatch) < 0
}

function missing(reason: string, native?: unknown): Error {
  const install = `install rclone and fuse3 (\`${howToInstall('rclone', 'fuse3')}\`), or pass \`program\``
  const remedy = process.platform === 'linux' ? install : 'mounts need Linux: read the bucket by `@ws/adapter-s3` here'
  return failure('ENOTSUP', reason, { operation, remedy, native })
}

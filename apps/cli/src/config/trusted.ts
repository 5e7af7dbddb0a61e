import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'

import { UsageError } from '../errors.ts'

export function hashOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** The hash of the trusted configuration at a host path; `undefined` without trust. @throws UsageError if the list cannot be read */
export function trustedHash(path: string): string | undefined {
  const directory = trustDirectory()
  try {
    return isPrivate(directory) ? readFileSync(entryOf(directory, path), 'utf8').trim() : undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    const reason = `the list of trusted config files cannot be read (${code})`
    throw new UsageError(`${reason}; set HOME or XDG_STATE_HOME to a directory of the user that runs ws`)
  }
}

/** Records that the user trusts a configuration's current content. @throws UsageError if the note cannot be written */
export function trust(path: string, hash: string): void {
  const directory = trustDirectory()
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    if (!isPrivate(directory)) throw new Error('EPERM')
    const entry = entryOf(directory, path)
    rmSync(entry, { force: true })
    writeFileSync(entry, `${hash}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const { code = 'EPERM' } = error as NodeJS.ErrnoException
    throw new UsageError(
      `the list of trusted config files cannot be written (${code}); set XDG_STATE_HOME to a private directory`,
    )
  }
}

export function forget(path: string): void {
  rmSync(entryOf(trustDirectory(), path), { force: true })
}

/** The user's directory for trust notes. A config file is refused if the workspace contains this directory. */
export function trustDirectory(): string {
  const state = process.env['XDG_STATE_HOME'] ?? ''
  return join(state.startsWith('/') ? state : join(homedir(), '.local/state'), 'ws/trusted')
}

/** True if only this user can write the directory: another user may have created a directory that all users can write. */
function isPrivate(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
}

function entryOf(directory: string, path: string): string {
  return join(directory, hashOf(Buffer.from(join(canonical(dirname(path)), basename(path)))))
}

/** The path with links resolved; unchanged if missing. */
export function canonical(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // a missing file keeps the path that was given
  }
}

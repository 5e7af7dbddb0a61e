import { lstatSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'

import { quotePath } from '@ws/core'

import { UsageError } from '../errors.ts'
import { hashOf, trustedHash } from './trusted.ts'

export const configName = 'ws.config.json'

/** A workspace that no option names: by a configuration, or the working directory itself. */
export interface FoundWorkspace {
  /** The host path of the nearest configuration. */
  readonly config?: string
  /** The working directory. */
  readonly root?: string
}

/**
 * Looks for a configuration in the working directory and in those above it. Without one, the working directory is the
 * workspace, unless it is `/` or the user's home directory.
 *
 * @throws UsageError where a directory cannot be looked at
 */
export function findWorkspace(): FoundWorkspace {
  const directory = workingDirectory()
  for (let at = directory; ; at = dirname(at)) {
    const config = join(at, configName)
    // a trusted configuration that is gone counts as found: its rules must not go with it
    if (isThere(config) || trustedHash(config) !== undefined) return { config }
    if (at === dirname(at)) break
  }
  return directory === '/' || directory === home() ? {} : { root: '.' }
}

/**
 * Checks that the user trusts a configuration that no option names. A command in the workspace may have written it.
 *
 * @throws UsageError where the user does not trust it, or trusts another content
 */
export function checkTrusted(file: string, content: Uint8Array): void {
  const known = trustedHash(file)
  if (known === hashOf(content)) return
  const state = known === undefined ? 'is not trusted yet' : 'has changed since you trusted it'
  throw new UsageError(
    `${shownFile(file)} ${state}; look at it, then run \`ws trust\`, or name a workspace with --root`,
  )
}

/** The path as it is seen from the working directory. */
export function shownFile(file: string): string {
  return quotePath(relative(workingDirectory(), file))
}

function workingDirectory(): string {
  try {
    return process.cwd()
  } catch {
    throw new UsageError('the working directory is gone; name the workspace with --root DIR')
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    throw new UsageError(`${shownFile(path)} cannot be looked for (${code}); name the workspace with --root DIR`)
  }
}

function home(): string | undefined {
  try {
    return realpathSync(homedir())
  } catch {
    return undefined // no home directory: nothing to leave out
  }
}

import { constants, existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'

import { quotePath } from '@ws/core'

import { UsageError } from '../errors.ts'
import { canonical, hashOf, trustedHash } from './trusted.ts'

export const configName = 'ws.config.json'

/** A workspace that was found without options: a configuration, or the working directory itself. */
export interface FoundWorkspace {
  /** The host path of the nearest configuration. */
  readonly config?: string | undefined
  /** The working directory. */
  readonly root?: string
}

/** The nearest configuration here or above; else this directory, except `/` and home. @throws UsageError if a directory is unreadable */
export function findWorkspace(): FoundWorkspace {
  const directory = workingDirectory()
  for (let at = directory; ; at = dirname(at)) {
    const config = join(at, configName)
    // a deleted trusted configuration counts too: its rules must not vanish
    if (isThere(config) || trustedHash(config) !== undefined) return { config } // @defence ` || trustedHash(config) !== undefined` that a command plants: moved away
    if (at === dirname(at)) break
  }
  return directory === '/' || directory === home() ? {} : { root: '.' }
}

/** A trusted configuration in or above a directory, with this directory as root. Commands can create untrusted configurations. */
export function trustedConfigOf(directory: string): string | undefined {
  const root = canonical(resolve(directory))
  for (let at = root; ; at = dirname(at)) {
    const config = join(at, configName)
    if (trustedHash(config) !== undefined && (at === root || rootOf(config) === root)) return config
    if (at === dirname(at)) return undefined
  }
}

/** A note about an ignored configuration in a directory, which a command may have created. */
export function passedOver(directory: string): string | undefined {
  const shown = quotePath(join(directory, configName))
  return existsSync(join(resolve(directory), configName))
    ? `${shown} is not trusted, and none of its rules hold; look at it, then run \`ws trust\` on it`
    : undefined
}

/** The root of a configuration's first mount; `undefined` for an unreadable file. */
function rootOf(config: string): string | undefined {
  try {
    // a FIFO at this path must not block
    const text = readFileSync(config, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NONBLOCK })
    const { mounts } = JSON.parse(text) as { readonly mounts: readonly { readonly root: string }[] }
    return canonical(resolve(dirname(config), mounts[0]?.root ?? ''))
  } catch {
    return undefined // the file names no root
  }
}

/** True if the user trusts a configuration. @param shown its name in errors @throws UsageError if the file has changed since */
export function isTrusted(file: string, content: Uint8Array, shown: string): boolean {
  const [own, target] = [file, canonical(file)].map(trustedHash)
  const changed = [own, target].find((known) => known !== undefined && known !== hashOf(content)) // @defence `, target` names and a command has written: refuses a named config file
  if (changed === undefined) return own !== undefined
  throw new UsageError(
    `${shown} has changed since you trusted it; look at it, then run \`ws trust\` on it, or \`ws trust --forget\``,
  )
}

export function untrusted(shown: string, others: string): UsageError {
  return new UsageError(`${shown} is not trusted yet; look at it, then run \`ws trust\`${others}`)
}

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
    return undefined // without a home directory, no directory is excluded
  }
}

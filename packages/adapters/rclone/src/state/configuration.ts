import { createHash, randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { CheckedOptions } from '../options.ts'
import type { Features } from '../program/features.ts'
import type { MountDirectories } from './directories.ts'

/** The remote's name on rclone's command line, which every user can see. */
export const remoteName = 'workspace:'

export interface Configuration {
  readonly config: string
  /** The hash of the password, for `--rc-htpasswd`. */
  readonly passwords: string
  /** The user of the control interface. Only this process knows the name. */
  readonly user: string
  readonly password: string
}

/**
 * Writes rclone's input: a file with credentials, which {@link forgetSecrets} removes after rclone has read it, and the hash of a
 * fresh password for the control interface. No secret is on a command line or in an environment.
 */
export async function writeConfiguration(
  { run }: MountDirectories,
  { section, bucket, prefix }: CheckedOptions,
  features: Features,
): Promise<Configuration> {
  const store = {
    ...section,
    ...(features.directoryMarkers && section['type'] === 's3' ? { directory_markers: 'true' } : {}),
  }
  const below = prefix === '' ? bucket : `${bucket}/${prefix}`
  const config = join(run, 'rclone.conf')
  const text = `${sectionText('store', store)}\n${sectionText('workspace', { type: 'alias', remote: `store:${below}` })}`
  await writeFile(config, text, { mode: 0o600, flag: 'wx' })
  const user = 'workspace'
  const password = randomBytes(32).toString('base64url')
  const passwords = join(run, 'passwords')
  const hash = createHash('sha1').update(password).digest('base64') // of 256 random bits: nothing to guess
  await writeFile(passwords, `${user}:{SHA}${hash}\n`, { mode: 0o600, flag: 'wx' })
  return { config, passwords, user, password }
}

function sectionText(name: string, settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}`)
  return [`[${name}]`, ...lines, ''].join('\n')
}

/** Removes the credentials from the disk. rclone has read them into memory. */
export async function forgetSecrets({ config }: Configuration): Promise<void> {
  await rm(config, { force: true }) // @defence credentials, bucket or endpoint in the process: shows no credential
}

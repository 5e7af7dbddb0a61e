import { lstatSync, readdirSync } from 'node:fs'

import type { Owner } from '@ws/core/adapter'
import type { VirtualPath } from '@ws/core'
import { systemTree } from '@ws/sandbox'

import type { ListOptions } from './lists.ts'

/** The parts of macOS that programs need: programs, libraries, the loader's cache, zones, certificates, devices and the choice of Xcode. */
const ofMac = [
  ...['/usr', '/bin', '/sbin', '/opt/homebrew', '/opt/local'],
  ...['/System/Library', '/System/Cryptexes', '/System/Volumes/Preboot/Cryptexes'],
  ...['/Library/Apple', '/Library/Developer/CommandLineTools', '/Library/Frameworks', '/Applications/Xcode.app'],
  ...['passwd', 'group', 'hosts', 'services', 'protocols', 'shells', 'localtime', 'ssl'].map(
    (name) => `/private/etc/${name}`,
  ),
  ...['profile', 'bashrc', 'zshenv', 'zprofile', 'zshrc', 'paths', 'paths.d'].map((name) => `/private/etc/${name}`),
  ...['dyld', 'timezone', 'xcode_select_link'].map((name) => `/private/var/db/${name}`),
  ...['null', 'zero', 'random', 'urandom', 'tty', 'fd', 'stdin', 'stdout', 'stderr'].map((name) => `/dev/${name}`),
  '/private/var/select',
]

/** Every sandbox of the library can write this directory, which programs of the host share. */
export const shared = ['/tmp/claude', '/private/tmp/claude']

export interface SystemOptions {
  readonly platform: NodeJS.Platform
  readonly root: VirtualPath
  readonly owner: Owner
}

interface SystemLists extends Omit<ListOptions, 'temporary'> {
  /** Further directories of programs, besides those of every system. */
  readonly paths: readonly string[]
}

/** Returns the lists for everything outside of the workspace. */
export function systemLists({ platform, root, owner }: SystemOptions): SystemLists {
  if (platform === 'darwin') {
    const paths = ['/opt/homebrew/bin', '/opt/local/bin', '/usr/sbin', '/sbin']
    return { readable: ofMac, unreadable: ['/'], unwritable: shared, paths }
  }
  const readable = systemTree({ root, owner }).flatMap((entry) =>
    (entry.kind === 'directory' || entry.kind === 'file') && entry.at === entry.source ? [entry.at] : [],
  )
  return { readable, unreadable: topEntries().filter((path) => !readable.includes(path)), unwritable: [], paths: [] }
}

/** Names at `/` that bubblewrap makes anew. */
const made = ['/dev', '/proc']

/** Returns the entries at `/`, without links: their targets have entries of their own. */
function topEntries(): string[] {
  const entries = readdirSync('/').map((name) => `/${name}`)
  return entries.filter(
    (path) => !made.includes(path) && lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === false,
  )
}

import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'

import type { VirtualPath } from '@ws/core'
import type { Owner } from '@ws/core/adapter'

import { etcEntries } from './etc.ts'

/**
 * One part of the system that commands see:
 *
 * - `directory`: the host's directory, read-only;
 * - `file`: the host's file, readable by every user; bind or copy it;
 * - `link`: a symbolic link with that text; `data`: a file with that content.
 */
export type SystemEntry =
  | { readonly kind: 'directory'; readonly at: string; readonly source: string }
  | { readonly kind: 'file'; readonly at: string; readonly source: string }
  | { readonly kind: 'link'; readonly at: string; readonly target: string }
  | { readonly kind: 'data'; readonly at: string; readonly content: Uint8Array }

export interface SystemTreeOptions {
  readonly root: VirtualPath
  readonly owner: Owner
  /** The login shell in `/etc/passwd`. Default `/bin/sh`. */
  readonly shell?: string | undefined
  /** True: names are resolved as on the host. Default false. */
  readonly network?: boolean | undefined
  /** The content of `/etc/resolv.conf` instead of the host's. Default: none. */
  readonly resolver?: string | undefined
  /** Trusted certificates (PEM), instead of the host's. */
  readonly certificates?: string | undefined
}

const programDirectories = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']

/** Returns the existing directories of programs and libraries, parents first. On many systems, all but `/usr` are links into `/usr`. */
export function programEntries(): SystemEntry[] {
  return programDirectories.flatMap((name): SystemEntry[] => {
    const at = `/${name}`
    const stat = lstatSync(at, { throwIfNoEntry: false })
    if (stat === undefined) return []
    if (stat.isDirectory()) return [{ kind: 'directory', at, source: at }]
    // Only a link into `/usr` leads to the same entry in the sandbox.
    if (!stat.isSymbolicLink() || !resolvesInto(at, '/usr')) return []
    return [{ kind: 'link', at, target: readlinkSync(at) }]
  })
}

export function systemTree(options: SystemTreeOptions): SystemEntry[] {
  return [...programEntries(), ...etcEntries(options)]
}

/** Returns true for an executable file of the system that commands can also run: all its links stay below the program directories. */
export function isSystemProgram(path: string): boolean {
  try {
    const shown = (candidate: string) =>
      programDirectories.some((name) => candidate.startsWith(`/${name}/`) && !candidate.includes('/../'))
    if (!shown(path)) return false
    const real = realpathSync.native(path)
    if (!shown(real)) return false
    const stat = statSync(real)
    return stat.isFile() && (stat.mode & 0o111) !== 0
  } catch {
    return false
  }
}

function resolvesInto(path: string, directory: string): boolean {
  try {
    return realpathSync(path).startsWith(`${directory}/`)
  } catch {
    return false
  }
}

import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { execError, type HostPath } from '@ws/core/executor'
import { type ConfinedTarget, HostPaths, systemTree } from '@ws/sandbox'

import type { CoverFiles } from './tree/layout.ts'

export interface ContainerFiles {
  readonly covers: CoverFiles
  /** Files of this machine that commands see in `/etc`, by their path there. */
  readonly etc: Readonly<Record<string, string>>
}

/** Files of `/etc` that commands need: a user with a name, and a profile that keeps PATH. */
const needed = ['/etc/passwd', '/etc/group', '/etc/profile']

/** Keeps the entries that containers show in this user's state directory. Their names tell their content, and they stay. */
export function containerFiles({ root, owner }: ConfinedTarget): ContainerFiles {
  const wanted = HostPaths.stateHome('container')
  mkdirSync(wanted, { recursive: true, mode: 0o711 })
  const directory = realpathSync(wanted)
  const { uid, mode: rights } = statSync(directory)
  if (uid !== process.getuid?.() || (rights & 0o022) !== 0)
    throw execError('ENOEXECUTOR', 'other users can write to the state directory', {
      remedy: 'set XDG_STATE_HOME to a directory of this user',
    })
  /** Makes an entry in one step: another process of this user may make it too. */
  const keep = (description: string | Uint8Array, mode: number, make: (path: string) => void): HostPath => {
    const path = join(directory, createHash('sha256').update(description).digest('hex').slice(0, 32))
    const known = statSync(path, { throwIfNoEntry: false })
    if (known !== undefined && (known.mode & 0o7777) === mode) return path as HostPath
    const staging = mkdtempSync(join(directory, 'new-'))
    const made = join(staging, 'entry')
    make(made)
    chmodSync(made, mode)
    // an entry that is there already is the same
    if (statSync(path, { throwIfNoEntry: false }) === undefined) renameSync(made, path)
    rmSync(staging, { recursive: true, force: true })
    return path as HostPath
  }
  const keepFile = (content: Uint8Array, mode: number) => keep(content, mode, (path) => writeFileSync(path, content))
  const keepDirectory = (name: string, mode: number) => keep(name, mode, (path) => mkdirSync(path))
  const etc = systemTree({ root, owner, shell: '/bin/sh' }).flatMap((entry) =>
    entry.kind === 'data' && needed.includes(entry.at) ? [[entry.at, keepFile(entry.content, 0o444)] as const] : [],
  )
  return {
    etc: Object.fromEntries(etc),
    covers: {
      mask: { file: keepFile(new Uint8Array(), 0), directory: keepDirectory('mask', 0) },
      empty: keepDirectory('empty', 0o555),
      closed(parts) {
        const sorted = [...parts].sort(([one], [other]) => (one < other ? -1 : 1))
        return keep(`closed ${JSON.stringify(sorted)}`, 0o111, (top) => {
          mkdirSync(top)
          for (const [path, type] of sorted) {
            const place = join(top, path)
            mkdirSync(type === 'file' ? dirname(place) : place, { recursive: true })
            if (type === 'file') writeFileSync(place, '')
          }
        })
      },
    },
  }
}

import { hash } from 'node:crypto'

import type { MountPath, SignalOption } from '@ws/core/adapter'

import type { ReplicaVerification } from '../contract.ts'
import { isBelowName } from './paths.ts'
import type { Site } from './site.ts'

/** Compares the bytes of the disk with those that were agreed upon. */
export async function verify({ disk, tree, limits }: Site, { signal }: SignalOption): Promise<ReplicaVerification> {
  signal?.throwIfAborted()
  const found = new Map(await disk.ask('hashes'))
  const agreed = [...tree.base.values()].filter(
    ({ type, path }) => type !== 'directory' && !isBelowName(path, limits.rebuild),
  )
  const lines = agreed.map(({ path, content, target }) => `${path}\0${content ?? target ?? ''}\n`).sort()
  const known = new Set(agreed.map(({ path }) => path))
  const differing = [
    ...agreed.filter(({ path, content, target }) => found.get(path) !== (content ?? target)).map(({ path }) => path),
    ...[...found.keys()].filter((path) => !known.has(path)),
  ]
  return {
    files: agreed.length,
    bytes: agreed.reduce((sum, { size }) => sum + size, 0),
    digest: hash('sha256', lines.join(''), 'base64url'),
    differing: differing.sort() as MountPath[],
  }
}

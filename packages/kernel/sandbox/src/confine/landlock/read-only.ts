import { execError, type Bind, type BindPlan } from '@ws/core/executor'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'

import type { BindSource } from '../../view/bind-source.ts'

/** A bind whose source this process holds open by a descriptor. */
export interface HeldBind {
  readonly bind: Pick<Bind, 'kind' | 'at' | 'access'>
  /** Canonical host path. */
  readonly host: string
  readonly source: Pick<BindSource, 'identity'>
}

export interface ReadOnlyOptions {
  readonly executor: string
  readonly landlock: boolean
}

/**
 * Refuses a read-only mount inside a writable root, by device and inode.
 * @throws WorkspaceError `EUNENFORCEABLE`, unless acknowledged
 */
export function checkReadOnlyMounts(
  plan: BindPlan,
  held: readonly HeldBind[],
  { executor, landlock }: ReadOnlyOptions,
): void {
  const asked = plan.restrictions.filter(({ field }) => field === 'readOnlyMounts')
  const writable = new Map(
    held.filter(({ bind }) => bind.access === 'read-write').map(({ bind, source }) => [source.identity, bind.at]),
  )
  for (const { bind, host, source } of held) {
    if (bind.kind !== 'mount' || bind.access !== 'read-only') continue
    const restriction = asked.find(({ path }) => path === bind.at)
    if (restriction === undefined) continue
    const around = landlock
      ? [source.identity, ...ancestors(host)].find((identity) => writable.has(identity))
      : undefined
    if (landlock && around === undefined) continue
    throw execError(
      'EUNENFORCEABLE',
      landlock
        ? `is read-only, but lies in the directory of \`${writable.get(around ?? '')}\`, which may be written`
        : `is read-only, which ${executor} cannot enforce without Landlock`,
      {
        path: bind.at,
        rule: restriction.rule,
        remedy: 'use the bubblewrap executor, or give it a directory of its own',
      },
    )
  }
}

function ancestors(host: string): string[] {
  const identities: string[] = []
  for (let path = dirname(host); ; path = dirname(path)) {
    const { dev, ino } = statSync(path, { bigint: true })
    identities.push(`${dev}:${ino}`)
    if (path === '/') return identities
  }
}

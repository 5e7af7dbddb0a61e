import { WorkspaceError } from '@ws/core'
import { operations, wrapAdapter, type StorageAdapter } from '@ws/core/adapter'

import { breach } from '../errors.ts'
import { containsPath, outputAt } from '../paths.ts'
import type { LandedEntry } from '../state/records.ts'

/** Makes the file API refuse changes outside the declared outputs at once. Files of commands are checked before they land. */
export function onlyDeclared(
  staging: StorageAdapter,
  outputs: readonly string[],
  onRefusal: (error: WorkspaceError) => void,
): StorageAdapter {
  const isDeclared = (path: string, mayEnclose: boolean): boolean =>
    outputs.some((output) => containsPath(output, path) || (mayEnclose && containsPath(path, output)))
  return wrapAdapter(staging, {
    name: `staging(${staging.name})`,
    capabilities: staging.capabilities,
    shared: true,
    async call({ operation, path, destination }, run) {
      if (!operations[operation].changes) return run()
      for (const changed of destination === undefined ? [path] : [path, destination]) {
        if (isDeclared(changed.slice(1), operation === 'createDirectory')) continue
        onRefusal(undeclared(changed.slice(1), operation))
        const reason = 'is not an output of this step'
        throw new WorkspaceError({ code: 'EACCES', operation, path: changed, reason, rule: 'outputs', remedy })
      }
      return run()
    },
  })
}

const remedy = 'write to a declared output, or declare this one'

function undeclared(path: string, operation: string): WorkspaceError {
  const at = `${outputAt}/${path}`
  return breach({ operation, path: at, reason: 'is not an output of this step', rule: 'outputs', remedy })
}

/** @throws WorkspaceError `ESECURITY` for an entry outside the outputs or a link that can lead out; `ENOENT` for a missing output */
export function checkLeft(entries: readonly LandedEntry[], outputs: readonly string[]): void {
  for (const entry of entries) {
    const { path, type } = entry
    if (path === '') continue
    const isInside = outputs.some((output) => containsPath(output, path))
    const encloses = type === 'directory' && outputs.some((output) => containsPath(path, output))
    if (!isInside && !encloses) throw undeclared(path, 'land')
    if (type === 'symlink') checkLink(path, entry.target)
  }
  const missing = outputs.find((output) => !entries.some(({ path }) => path === output))
  if (missing === undefined) return
  throw new WorkspaceError({
    code: 'ENOENT',
    operation: 'land',
    path: `${outputAt}/${missing}`,
    reason: 'is an output of this step, which did not write it',
    remedy: 'let the step write it, or take it out of its outputs',
  })
}

/** Allows `..` only at the beginning of a target, at most once for each directory above the link. Chains of such links cannot lead out. */
function checkLink(path: string, target: string): void {
  const [up = ''] = /^(?:\.\.(?:\/|$))*/u.exec(target) ?? []
  const climbs = up.split('..').length - 1
  const depth = path.split('/').length - 1
  const isConfined = !target.startsWith('/') && climbs <= depth && !target.slice(up.length).split('/').includes('..')
  if (isConfined) return
  throw breach({
    operation: 'land',
    path: `${outputAt}/${path}`,
    reason: 'is a link that can lead out of the output',
    rule: 'links',
    remedy: 'make the link relative, with `..` in front only, to a place in the output',
  })
}

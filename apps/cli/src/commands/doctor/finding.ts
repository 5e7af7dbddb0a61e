import type { Owner } from '@ws/core/adapter'
import type { ProbeReport, Guarantees } from '@ws/core/executor'

import type { ExecutorName } from '../../config/executors.ts'

export interface Finding extends ProbeReport {
  readonly executor: ExecutorName
  readonly at: string
  readonly owner: Owner
  readonly unmet: readonly (keyof Guarantees)[]
}

/** An executor that is always listed, but used only if the user names it. */
export const lastResort: ExecutorName = 'sanitize'

/** True if each system call of a command is stopped: programs that open many files are then slow. */
export function isSlow({ details }: Pick<ProbeReport, 'details'>): boolean {
  return details.stoppedCalls === 'all' || details['root'] === 'translated'
}

export function mergeRoots(findings: readonly Finding[]): (Finding & { readonly roots: readonly string[] })[] {
  const merged = new Map<string, Finding & { readonly roots: string[] }>()
  for (const finding of findings) {
    const { at: _, details, ...said } = finding
    const key = JSON.stringify({ ...said, slow: isSlow({ details }) })
    const same = merged.get(key)
    if (same === undefined) merged.set(key, { ...finding, roots: [finding.at] })
    else same.roots.push(finding.at)
  }
  return [...merged.values()]
}

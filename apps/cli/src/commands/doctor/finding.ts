import type { Owner } from '@ws/core/adapter'
import type { GuaranteeField, ProbeReport } from '@ws/core/executor'

import type { ExecutorName } from '../../config/executors.ts'

/** The findings of an executor's probe for a workspace mounted at `at`. */
export interface Finding extends ProbeReport {
  readonly executor: ExecutorName
  readonly at: string
  readonly owner: Owner
  /** Boundaries that are required and not held. */
  readonly unmet: readonly GuaranteeField[]
}

/** Shown always, used only when it is named. */
export const lastResort: ExecutorName = 'sanitize'

/** Every system call of a command is stopped: a program that opens many files takes far longer. */
export function isSlow({ details }: Pick<ProbeReport, 'details'>): boolean {
  return details.stoppedCalls === 'all' || details['root'] === 'translated'
}

/** Findings that say the same for several roots, as one. */
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

import { isWithin } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { Need } from '../contract/operations.ts'
import type { Access, SubtreeRule } from '../contract/policy.ts'

/** Rights as bits: one AND gives the common rights of two rules. */
export const READ = 1
export const WRITE = 2
export const ALL = READ | WRITE

const bitsOf: Record<Access, number> = { 'read-write': ALL, 'read-only': READ, 'write-only': WRITE, none: 0 }

export const accesses: readonly Access[] = ['read-write', 'read-only', 'write-only', 'none']

export function rightsOf(access: Access): number {
  return bitsOf[access]
}

export function rightFor(need: Need): number {
  return need === 'read' ? READ : WRITE
}

export function ruleRights(rule: SubtreeRule<VirtualPath>, path: VirtualPath): number {
  let longest = -1
  let rights = ALL
  for (const entry of rule.entries) {
    if (entry.path.length <= longest || !isWithin(path, entry.path)) continue
    longest = entry.path.length
    rights = rightsOf(entry.access)
  }
  return rights
}

import type { Access, Need } from './types.ts'

/** Rights as bits, so that intersecting rules is one AND. */
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

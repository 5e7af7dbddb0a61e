import { createHash } from 'node:crypto'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json | undefined }

/** JSON text that is equal for equal values, in any order of their names. Absent members are left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
  })
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

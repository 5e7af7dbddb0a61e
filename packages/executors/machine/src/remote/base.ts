import type { Version } from '@ws/core'

/** An entry as both sides had it at the last exchange. */
export interface Agreed {
  readonly record: string
  /** The workspace's version. Absent: the workspace has another entry here, or none. */
  readonly version?: Version | undefined
  readonly mode?: number | undefined
  readonly digest?: string | undefined
}

/** By the key of the machine's path. */
export type Base = Map<string, Agreed>

export interface Refusal {
  readonly path: string
  readonly reason: string
}

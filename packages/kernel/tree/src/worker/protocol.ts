import type { ErrorCode, PartialProgress } from '@ws/core'

export interface Request<Name = PropertyKey> {
  readonly id: number
  readonly method: Name
  readonly args: readonly unknown[]
}

export interface PlainError {
  readonly code: ErrorCode
  readonly reason: string
  readonly remedy?: string | undefined
  readonly partial?: PartialProgress | undefined
  readonly native?: unknown
}

/** The request that tells the worker to close all files and end. */
export const ending = 'end'

export type Answer = { readonly id: number } & ({ readonly result: unknown } | { readonly error: PlainError })

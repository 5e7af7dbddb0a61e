import type { MountPath, SearchHit } from '@ws/core'
import { translate } from '../client/failures.ts'

export interface SearchCall {
  /** Throws when the search cannot go on. */
  readonly check: () => void
  readonly path: MountPath
  readonly signal: AbortSignal | undefined
}

/** A search whose errors are those of the contract. */
export async function* wrapSearch(
  open: () => AsyncIterable<SearchHit>,
  { check, path, signal }: SearchCall,
): AsyncGenerator<SearchHit, undefined> {
  try {
    check()
    for await (const hit of open()) {
      yield hit
      check()
    }
  } catch (error) {
    throw translate(error, 'search', path, signal)
  }
  return undefined
}

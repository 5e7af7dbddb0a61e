import { isWorkspaceError } from '@ws/core'

/**
 * The words of an error for a model: code, virtual path, reason and remedy of a WorkspaceError. Any other error may name
 * host paths or secrets, so its own words are left out.
 */
export function wordsOf(error: unknown): string {
  if (isWorkspaceError(error)) return error.message
  return 'EIO: the workspace failed with an error of its own; try another way, and tell the user'
}

/**
 * The result, or `{ error }` with {@link wordsOf} it: for frameworks whose methods never throw. With `signal`, an abort
 * rejects with `signal.reason` all the same.
 */
export async function orError<Result>(
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result | { error: string }> {
  try {
    return await work()
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    return { error: wordsOf(error) }
  }
}

/** The result, or `undefined` where nothing is at the path: `ENOENT` and `ENOTDIR`. Every other error is thrown. */
export async function ifThere<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return undefined
    throw error
  }
}

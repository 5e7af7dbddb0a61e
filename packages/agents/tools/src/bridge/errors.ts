import { isWorkspaceError } from '@ws/core'

/** Code, path, reason and remedy of a WorkspaceError. Messages of other errors are left out: they may name host paths or secrets. */
export function wordsOf(error: unknown): string {
  if (isWorkspaceError(error)) return error.message
  return 'EIO: the workspace failed with an error of its own; try another way, and tell the user'
}

/** The result, or `{ error }` as {@link wordsOf}, for frameworks whose methods never throw. An abort of `signal` still rejects. */
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

/** The result, or `undefined` for `ENOENT` and `ENOTDIR`. Every other error is thrown. */
export async function ifThere<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return undefined
    throw error
  }
}

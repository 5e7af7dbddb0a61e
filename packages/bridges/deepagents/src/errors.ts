import { isWorkspaceError } from '@ws/core'
import { wordsOf } from '@ws/tools/bridge'

/** The result of a method that failed: the words that deepagents uses for a missing file, then those of the workspace. */
export function faultOf(error: unknown, path: string): { error: string } {
  const words = wordsOf(error)
  const missing = isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')
  return { error: missing ? `'${path.toWellFormed()}' not found. ${words}` : words }
}

/** The result of the work, or {@link faultOf} its error. */
export async function orFault<Result>(path: string, work: () => Promise<Result>): Promise<Result | { error: string }> {
  try {
    return await work()
  } catch (error) {
    return faultOf(error, path)
  }
}

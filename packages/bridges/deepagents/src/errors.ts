import { isWorkspaceError } from '@ws/core'
import { wordsOf } from '@ws/tools/bridge'

/** The workspace's message. For a missing file, deepagents' message precedes it. */
export function faultOf(error: unknown, path: string): { error: string } {
  const words = wordsOf(error)
  const missing = isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')
  return { error: missing ? `'${path.toWellFormed()}' not found. ${words}` : words }
}

export async function orFault<Result>(path: string, work: () => Promise<Result>): Promise<Result | { error: string }> {
  try {
    return await work()
  } catch (error) {
    return faultOf(error, path)
  }
}

import { isWorkspaceError, WorkspaceError, type ErrorCode } from '@ws/core'

import type { Layout } from '../layout/layout.ts'
import { treeOf } from './tree.ts'

const ofStores: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'EACCES',
  'EBACKEND',
  'EDQUOT',
  'EIO',
  'ENOSPC',
  'ENOWORKSPACE',
  'EROFS',
  'ETIMEDOUT',
])

export interface ThreadAction {
  readonly operation: string
  readonly outcome: string
  readonly threadId: string
  readonly layout: Layout
  readonly store: string
}

/** Runs a step on a thread. A failure of the store names the thread, part, store and time, but no path in the store. */
export async function naming<Result>(action: ThreadAction, work: () => Promise<Result>): Promise<Result> {
  const { operation, outcome, threadId, store } = action
  const since = new Date().toISOString()
  try {
    return await work()
  } catch (error) {
    const isOfStore = isWorkspaceError(error) && ofStores.has(error.code) && error.rule === undefined
    if (!isOfStore || error.path === threadId) throw error
    throw new WorkspaceError({
      code: error.code,
      operation,
      path: threadId,
      reason: `${outcome}: its ${partOf(error.path ?? '/', action)} in the store ${store}, asked since ${since}, ${error.reason}`,
      remedy: error.remedy,
      native: error,
    })
  }
}

function partOf(path: string, { layout, threadId }: ThreadAction): string {
  if (isAtOrBelow(path, `/${layout.control}`)) return 'lease'
  return path === '/' || isAtOrBelow(path, treeOf(layout, threadId)) ? 'directory' : `\`${path}\``
}

function isAtOrBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`)
}

import { isWorkspaceError, rewriteError } from '../errors.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { Beginning } from '../calls/audit.ts'
import { type Context, parseFor, recordFiles } from '../calls/context.ts'
import type { Change } from '../contract/checkpoints.ts'
import { translateError, virtualError } from '../mount/errors.ts'

/** Runs a step of an engine, and names the operation in its errors. */
export async function translated<Result>(
  { root }: Pick<Context, 'root'>,
  operation: string,
  signal: AbortSignal | undefined,
  body: () => Promise<Result>,
): Promise<Result> {
  try {
    return await body()
  } catch (error) {
    // the path of this error is a caller's path, or absent
    if (isWorkspaceError(error)) throw rewriteError(error, { operation })
    throw translateError(error, { operation, at: undefined, path: root, signal })
  }
}

export function parsePaths(context: Context, operation: string, paths: readonly string[]): readonly VirtualPath[] {
  return paths.map((given) => {
    const { path } = parseFor(context, operation, given)
    if (typeof path === 'string') return path
    throw virtualError({
      code: 'EINVAL',
      operation,
      path: given,
      reason: 'holds `..`',
      remedy: 'give the path without it',
    })
  })
}

export function recordChanges(
  context: Context,
  operation: 'merge' | 'restore',
  changes: readonly Change[],
  began: Beginning,
): void {
  if (!context.audit.active) return
  for (const { path } of changes) recordFiles(context, { operation, path }, { began, trace: {}, error: undefined })
}

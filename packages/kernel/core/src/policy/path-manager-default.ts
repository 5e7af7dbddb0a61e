import { WorkspaceError } from '../errors.ts'
import { createPathManager, type PathManager } from './path-manager.ts'
import type { PathManagerOptions } from './path-manager-options.ts'

let configured: PathManager | undefined

/** Sets the process-wide manager, once. Only for programs; libraries take a manager as an argument. @throws `EEXIST` on a second call */
export function configurePathManager(options: PathManagerOptions): PathManager {
  if (configured !== undefined) {
    throw new WorkspaceError({
      code: 'EEXIST',
      operation: 'configure',
      reason: 'the process-wide path manager is configured already',
      remedy: 'make a manager of your own with createPathManager',
    })
  }
  configured = createPathManager(options)
  return configured
}

/** Returns the process-wide manager. @throws WorkspaceError `EINVAL` before `configurePathManager` */
export function getPathManager(): PathManager {
  if (configured !== undefined) return configured
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: 'getPathManager',
    reason: 'the process-wide path manager is not configured yet',
    remedy: 'call configurePathManager({ workspace, output }) when the program starts',
  })
}

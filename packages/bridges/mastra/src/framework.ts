import type { Workspace } from '@ws/core'
import { checkFramework, checkWorkspace } from '@ws/tools/bridge'

/** @throws WorkspaceError `EINVAL` for a value that is not a workspace, `ENOTSUP` for a version of Mastra that is not supported */
export function checkArguments(workspace: unknown, operation: string): asserts workspace is Workspace {
  checkWorkspace(workspace, operation)
  checkFramework(operation, { name: '@mastra/core', from: '1.71.0', importer: import.meta.url })
}

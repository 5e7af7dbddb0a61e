import type { Workspace } from '@ws/core'
import { checkFramework, checkWorkspace } from '@ws/tools/bridge'

/** @throws WorkspaceError `EINVAL` for another value than a workspace, `ENOTSUP` for an unsupported Mastra */
export function checkArguments(workspace: unknown, operation: string): asserts workspace is Workspace {
  checkWorkspace(workspace, operation)
  checkFramework(operation, { name: '@mastra/core', from: '1.71.0', importer: import.meta.url })
}

import { AnthropicError } from '@anthropic-ai/sdk'
import { VERSION } from '@anthropic-ai/sdk/version'
import { isWorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'
import { checkFramework, checkWorkspace } from '@ws/tools/bridge'

export function checkGiven(given: unknown, operation: string, version: string = VERSION): asserts given is Workspace {
  try {
    checkFramework(operation, { name: '@anthropic-ai/sdk', from: '1.12.0', importer: import.meta.url, version })
    checkWorkspace(given, operation)
  } catch (error) {
    throw isWorkspaceError(error) ? new AnthropicError(error.message) : error
  }
}

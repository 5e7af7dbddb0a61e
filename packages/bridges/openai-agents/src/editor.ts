import type { ApplyPatchOperation, ApplyPatchResult, Editor } from '@openai/agents-core'
import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'

import { textOf } from './answer.ts'
import { checkGiven } from './workspace.ts'

/**
 * Makes the editor for `applyPatchTool({ editor })`.
 *
 * Each hunk goes to the next place below its anchors, as in the SDK's `applyDiff`; a first hunk without an anchor must be found
 * at exactly one place. Line ends and all other bytes stay. A path is relative to the
 * workspace's root, or absolute. A refusal is `{ status: 'failed', output }`, with the reason, the remedy and a next call of
 * `shell`. A new file must not be there yet, and ends with a newline.
 *
 * @throws UserError where `workspace` is not a workspace, and for a version of the SDK that is not supported
 */
export function createEditor(workspace: Workspace): Editor {
  return editorOf(workspace, 'createEditor')
}

/** @param nextCall a command as a call of another tool than `shell` */
export function editorOf(workspace: Workspace, operation: string, nextCall?: (command: string) => string): Editor {
  checkGiven(workspace, operation)
  const toolset = createTools(workspace, { face: 'openai', downloads: false })
  const apply = async (patch: ApplyPatchOperation): Promise<ApplyPatchResult> => {
    const answer = await toolset.run('apply_patch', patch)
    return { status: answer.isError ? 'failed' : 'completed', output: textOf(answer, nextCall) }
  }
  return { createFile: apply, updateFile: apply, deleteFile: apply }
}

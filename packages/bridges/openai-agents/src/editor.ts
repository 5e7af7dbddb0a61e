import type { ApplyPatchOperation, ApplyPatchResult, Editor } from '@openai/agents-core'
import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { ToolAnswer } from '@ws/tools'

import { answerText } from './answer.ts'
import { checkGiven } from './workspace.ts'

/**
 * Makes the editor for `applyPatchTool({ editor })`. Each hunk applies at the next place below its anchors, as in the SDK's `applyDiff`.
 * A first hunk without an anchor must match exactly once. Other bytes stay unchanged. Paths are absolute, or relative to the root.
 * A refusal is `{ status: 'failed', output }` with reason, remedy and a `shell` call.
 * The path of a new file must not exist. A new file ends with a newline.
 * @throws UserError for another value than a workspace, or an unsupported SDK
 */
export function createEditor(workspace: Workspace): Editor {
  return editorOf(workspace, 'createEditor')
}

/** @param nextCall writes a command as a call of a tool other than `shell` */
export function editorOf(workspace: Workspace, operation: string, nextCall?: (command: string) => string): Editor {
  checkGiven(workspace, operation)
  const toolset = createTools(workspace, { face: 'openai', downloads: false })
  return editorBy((patch) => toolset.run('apply_patch', patch), nextCall)
}

export function editorBy(
  run: (patch: ApplyPatchOperation) => Promise<ToolAnswer>,
  nextCall?: (command: string) => string,
): Editor {
  const apply = async (patch: ApplyPatchOperation): Promise<ApplyPatchResult> => {
    const answer = await run(patch)
    return { status: answer.isError ? 'failed' : 'completed', output: answerText(answer, nextCall) }
  }
  return { createFile: apply, updateFile: apply, deleteFile: apply }
}

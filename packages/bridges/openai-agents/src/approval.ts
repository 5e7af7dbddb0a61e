import type { ApplyPatchOperation, Editor, RunContext, Shell, ShellAction } from '@openai/agents-core'
import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { ToolAnswer, ToolsOptions } from '@ws/tools'
import { type PendingCall, PendingCalls } from '@ws/tools/bridge'

import { editorBy } from './editor.ts'
import { inputOf, resultsOf } from './shell.ts'
import { checkCommands, checkGiven, inWordsOfTheSdk } from './workspace.ts'

type NeedsApproval<Given> = (context: RunContext, given: Given, callId?: string) => Promise<boolean>

interface ApprovedTools extends AsyncDisposable {
  /** For `shellTool`. Each command has its own shell. */
  readonly shell: {
    readonly name: 'shell'
    readonly shell: Shell
    readonly needsApproval: NeedsApproval<ShellAction>
  }
  /** For `applyPatchTool`. */
  readonly applyPatch: {
    readonly name: 'apply_patch'
    readonly editor: Editor
    readonly needsApproval: NeedsApproval<ApplyPatchOperation>
  }
  /**
   * The changes of a call that needs approval: one of the `interruptions`, or of `onApproval`. Approval keeps all of them; `decide` keeps
   * some of them before. Rejected changes are taken back by `decide`, before the next call, or after `decideWithin`.
   */
  pending(callId: string): PendingCall | undefined
  /** Takes back the changes that wait. The workspace stays open. */
  close(): Promise<void>
}

/**
 * Makes the options of `shellTool` and `applyPatchTool` for the approval of effects. A call runs before the question, and needs approval
 * only if it changed files. Meanwhile other calls do not run, and their answers say so. States that nothing else changes the files.
 * @throws UserError for a workspace without executor or `checkpoints`, or an unsupported SDK
 */
export function createApprovedTools(
  workspace: Workspace,
  { decideWithin }: Pick<ToolsOptions, 'decideWithin'> = {},
): ApprovedTools {
  checkGiven(workspace, 'createApprovedTools')
  checkCommands(workspace, 'createApprovedTools')
  const pending = new PendingCalls()
  const toolset = inWordsOfTheSdk(() =>
    createTools(workspace, { face: 'openai', downloads: false, decideWithin, approve: pending.approve }),
  )
  const keyOf = (tool: string, given: unknown): string => JSON.stringify([tool, given])
  // the SDK runs an approved call without its id
  let shown: { readonly id: string; readonly key: string; readonly tool: string } | undefined
  const ready = new Map<string, string>()

  const needs =
    <Given>(tool: string, argumentsOf: (given: Given) => unknown): NeedsApproval<Given> =>
    async (context, given, callId) => {
      const key = keyOf(tool, given)
      const id = callId ?? key
      if (shown !== undefined && isRejected(context, shown)) await pending.drop(shown.id)
      const state = await pending.begin(id, () => toolset.run(tool, argumentsOf(given)))
      if (state === 'waiting') shown = { id, key, tool }
      if (state === 'waiting') ready.delete(key)
      else ready.set(key, id)
      return state === 'waiting'
    }
  const answerTo = async (tool: string, given: unknown): Promise<ToolAnswer> => {
    const key = keyOf(tool, given)
    const id = ready.get(key) ?? (shown?.key === key ? shown.id : undefined)
    ready.delete(key)
    return pending.take(id)
  }
  const shell: Shell = {
    async run(action) {
      const { maxOutputLength } = inputOf(action)
      const output = resultsOf(await answerTo('shell', action))
      return { output, ...(maxOutputLength !== undefined && { maxOutputLength }) }
    },
  }
  const editor = editorBy((patch) => answerTo('apply_patch', patch))
  const close = (): Promise<void> => pending.close(toolset)
  return {
    shell: { name: 'shell', shell, needsApproval: needs('shell', inputOf) },
    applyPatch: { name: 'apply_patch', editor, needsApproval: needs('apply_patch', (patch) => patch) },
    pending: (callId) => pending.get(callId),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function isRejected(context: RunContext, { id, tool }: { readonly id: string; readonly tool: string }): boolean {
  return context.isToolApproved({ toolName: tool, callId: id }) === false
}

import { posix } from 'node:path'

import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { ToolAnswer, ToolsOptions } from '@ws/tools'
import { describeEffects, ifThere, type PendingCall, PendingCalls, refusedExitCode, wordsOf } from '@ws/tools/bridge'
import type { EditResult, ExecuteResponse, SandboxBackendProtocolV2 } from 'deepagents'

import { createSandboxBackend } from './backend.ts'
import { createEdit, wordsFor } from './editing.ts'
import { mediaTypeOf } from './kinds.ts'
import { ownPath } from './own-directories.ts'

/** Limit of the diff in a description. */
const diffCharacters = 2_000

interface Call {
  readonly id?: string | undefined
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

interface Request {
  readonly toolCall: Call
  readonly state: { readonly messages: readonly object[] }
}

interface Question {
  readonly allowedDecisions: ('approve' | 'reject')[]
  /** Runs the call. True if its changes wait for a decision. */
  readonly when: (request: Request) => Promise<boolean>
  /** The changes and a short diff. */
  readonly description: (call: Call) => string
}

interface ApprovedBackend extends AsyncDisposable {
  /** For `createDeepAgent`. A function, since only that way a method learns the call of the model. */
  readonly backend: (runtime: object) => Required<SandboxBackendProtocolV2>
  /** For `createDeepAgent`, of this agent and its subagents. */
  readonly interruptOn: Record<Name, Question>
  /**
   * The changes of a call that waits. Approval keeps all of them; `decide` keeps some of them before. Rejected changes are taken back by
   * `decide`, before the agent's next changing call, or after `decideWithin`.
   */
  pending(callId: string): PendingCall | undefined
  /** Takes back the changes that wait. The workspace stays open. */
  close(): Promise<void>
}

const names = ['write_file', 'edit_file', 'delete', 'execute'] as const
type Name = (typeof names)[number]
type FileOutcome = Omit<EditResult, 'filesUpdate'> & { filesUpdate?: null }
type Outcome = FileOutcome | ExecuteResponse

interface Shown {
  readonly given: string
  /** The id of the model's message with the call. */
  readonly step: string | undefined
  text?: string
  isResumed?: boolean
  outcome?: Outcome
}

/**
 * Makes the backend and interrupts of `createDeepAgent` for the approval of effects. A changing call runs before the question, and
 * interrupts the agent only if it changed files. Meanwhile other changing calls do not run, and their answers say so. Needs a checkpointer.
 * A call that was not shown does not run. States that nothing else changes the files.
 * @throws WorkspaceError as {@link createSandboxBackend}, and `EINVAL` without `checkpoints`
 */
export function createApprovedBackend(
  workspace: Workspace,
  { decideWithin }: Pick<ToolsOptions, 'decideWithin'> = {},
): ApprovedBackend {
  const plain = createSandboxBackend(workspace)
  const pending = new PendingCalls()
  const toolset = createTools(workspace, { face: 'split', downloads: false, decideWithin, approve: pending.approve })
  const edit = createEdit(workspace, toolset)
  const shown = new Map<string, Shown>()

  async function run(name: Name, args: Call['args']): Promise<Outcome> {
    if (name === 'execute') return resultOf(await toolset.run(name, { command: args['command'] }))
    const path = name === 'delete' ? trimmed(pathOf(args)) : pathOf(args)
    if (name === 'edit_file')
      return edit(
        path,
        String(args['old_string']),
        String(args['new_string']),
        args['replace_all'] === true,
      ) as Promise<FileOutcome>
    if (name === 'write_file' && mediaTypeOf(path) !== undefined)
      return { error: 'A media file is not written while a person decides; make it by a command' }
    // the tools give `/workspace` a special meaning
    const target = (await ifThere(workspace.realPath(path))) ?? path
    const answer = await (name === 'delete'
      ? toolset.run('delete', { path: target, recursive: true })
      : toolset.run('write', { path: target, content: args['content'] }))
    if (answer.isError) return { error: wordsFor(answer) }
    return { path, filesUpdate: null, metadata: { version: answer.data?.['version'] } }
  }

  const when: Question['when'] = async ({ toolCall: { id, name, args }, state }) => {
    const messages = state.messages as readonly { id?: string; tool_calls?: readonly Call[] }[]
    const step = messages.findLast(({ tool_calls: calls }) => calls?.some((call) => call.id === id))?.id
    const given = givenOf(name, args)
    if (id === undefined || step === undefined || given === undefined) return false
    const before = shown.get(id)
    if (before?.given === given && before.step === step) {
      // the framework asks again when it goes on after the decision
      before.isResumed = true
      return before.text !== undefined
    }
    const { waiting } = pending
    const old = shown.get(waiting ?? '')?.step
    // an approved call ends before the model's next step, so this one was rejected or left
    if (waiting !== undefined && old !== step && messages.some((message) => message.id === old))
      await pending.drop(waiting)
    for (const one of shown.keys()) if (!pending.has(one)) shown.delete(one)
    const call: Shown = { given, step }
    shown.set(id, call)
    await pending.begin(id, async () => {
      call.outcome = await run(name as Name, args).catch((error: unknown) => ({ error: wordsOf(error) }))
      return { isError: false, text: '' }
    })
    const request = pending.get(id)
    if (request === undefined) return false
    try {
      call.text = await describeEffects({ ...request, tool: name }, { diffCharacters })
    } catch (error) {
      await pending.drop(id)
      call.outcome = { error: wordsOf(error) }
    }
    return call.text !== undefined
  }

  async function take(runtime: object, name: Name, args: Call['args']): Promise<Outcome> {
    const id = (runtime as { readonly toolCall?: Call }).toolCall?.id ?? ''
    const call = shown.get(id)
    let wasShown = true
    if (call?.given !== givenOf(name, args)) wasShown = false // @defence a call whose changes were not shown: runs no second call
    // a process that did not ask has run the call anew
    const isAnswered = call?.text !== undefined && call.isResumed === true
    if (pending.get(id) !== undefined && !isAnswered) wasShown = false // @defence a call whose changes were not shown: another process asked for
    shown.delete(id)
    if (!wasShown) await pending.drop(id)
    const { text } = await pending.take(id)
    return (wasShown ? call?.outcome : undefined) ?? { error: text }
  }

  const isShown = (runtime: object): boolean => shown.has((runtime as { readonly toolCall?: Call }).toolCall?.id ?? '')
  const isOwn = (path: string): boolean => ownPath.test(path) && posix.normalize(path) === path
  const backend: ApprovedBackend['backend'] = (runtime) => ({
    ...plain,
    write: async (path, content) =>
      isOwn(path) && !isShown(runtime)
        ? plain.write(path, content)
        : (take(runtime, 'write_file', { path, content }) as Promise<FileOutcome>),
    edit: async (path, old, replacement, all = false) => {
      if (isOwn(path) && !isShown(runtime)) return plain.edit(path, old, replacement, all)
      const args = { path, old_string: old, new_string: replacement, replace_all: all }
      return take(runtime, 'edit_file', args) as Promise<FileOutcome>
    },
    delete: async (path) => take(runtime, 'delete', { path }) as Promise<FileOutcome>,
    execute: async (command) => {
      const outcome = await take(runtime, 'execute', { command })
      return 'output' in outcome
        ? outcome
        : { output: `${outcome.error}\n`, exitCode: refusedExitCode, truncated: false }
    },
    uploadFiles: async (files) =>
      files.every(([path]) => isOwn(path))
        ? plain.uploadFiles(files)
        : files.map(([path]) => ({ path, error: 'permission_denied' })),
  })

  const question: Question = {
    allowedDecisions: ['approve', 'reject'],
    when,
    description: ({ id }) => shown.get(id ?? '')?.text ?? '',
  }
  const close = (): Promise<void> => pending.close(toolset)
  return {
    backend,
    interruptOn: { write_file: question, edit_file: question, delete: question, execute: question },
    pending: (callId) => pending.get(callId),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function pathOf(args: Call['args']): string {
  return String(args['file_path'] ?? args['path'])
}

/** The path as the tool `delete` names it. */
function trimmed(path: string): string {
  return path.replaceAll(/\/+/gu, '/').replace(/(?<=.)\/$/u, '')
}

/** The arguments by which a method knows its call; `undefined` for those of another type. */
function givenOf(name: string, args: Call['args']): string | undefined {
  const { command, content, old_string: old, new_string: replacement, replace_all: all = false } = args
  const path = trimmed(pathOf(args))
  const given: Readonly<Record<string, readonly unknown[]>> = {
    write_file: [path, content],
    edit_file: [path, old, replacement, String(all)],
    delete: [path],
    execute: [command],
  }
  return given[name]?.every((one) => typeof one === 'string') === true ? JSON.stringify([name, given[name]]) : undefined
}

function resultOf(answer: ToolAnswer): ExecuteResponse {
  const { isError, text, data } = answer
  if (isError) return { output: `${wordsFor(answer)}\n`, exitCode: refusedExitCode, truncated: false }
  // the first line is the exit code
  return {
    output: text.slice(text.indexOf('\n') + 1),
    exitCode: Number(data?.['exit_code'] ?? 1),
    truncated: data?.['truncated'] === true,
  }
}

import { isWorkspaceError, WorkspaceError } from '@ws/core'
import type { VirtualPath, Workspace } from '@ws/core'
import { escapeUnprintable, rehearsing } from '@ws/core/executor'

import { problemOf, sentenceOf } from './answers/from-error.ts'
import type { Outcome, ProblemOptions } from './answers/problem.ts'
import { nearestName } from './arguments/nearest.ts'
import type { Dialect, Face, FaceTool } from './faces/face.ts'
import { createCheckpointTools, withChanges } from './faces/checkpoint-tools.ts'
import { createFace } from './faces/index.ts'
import { callOfFace } from './next/call-of-face.ts'
import { possibleCall } from './next/possible-call.ts'
import { wayOn } from './next/way-on.ts'
import { Session } from './session/session.ts'
import type { Call } from './session/session.ts'
import { faceNames, type FaceName } from './face-names.ts'
import { jsonOf } from './text/frame.ts'
import type { NextCall, RunOptions, Tool, ToolAnswer, Toolset, ToolsOptions } from './types.ts'

const defaultContext = 50_000

/** Makes the tools of one face. The caller closes the workspace. @throws WorkspaceError `EINVAL` for invalid options */
export function createTools(workspace: Workspace, options: ToolsOptions = {}): Toolset {
  const { face: name = 'file_system', maxContext = defaultContext } = options
  checkOptions(name, options, workspace)
  const session = new Session(workspace, {
    maxContext,
    requireReadBeforeWrite: options.requireReadBeforeWrite ?? name === 'claude-code',
    downloads: options.downloads,
    commands: options.commands !== false,
    keepsShell: options.shell === 'session',
    versions: name === 'file_system' || name === 'split',
    changes: options.changes,
  })
  const { root } = session.shell === undefined ? {} : workspace
  const made = createFace(name, { downloads: session.downloads !== undefined, root })
  const chosen = options.commands === false ? withoutCommands(made) : made
  const face =
    options.checkpoints === true ? withCheckpoints(name === 'claude-code' && options.changes !== true, chosen) : chosen
  const tools = face.tools.map((tool): Tool => {
    const { name: toolName, inputSchema, annotations } = tool
    const description = descriptionOf(tool, workspace, session.shell !== undefined)
    const run = (input: unknown, { signal }: RunOptions = {}): Promise<ToolAnswer> =>
      runTool(face, tool, session.begin(toolName, signal), input)
    return { name: toolName, description, inputSchema, annotations, run }
  })
  return new LiveToolset(session, face, tools)
}

const servers = 'Later commands reach a server that runs in the background at `localhost`.'

const keeps =
  'The directory, variables, functions, aliases and options of the shell stay for the next command, also after `exit`. ' +
  'Jobs, traps and open files do not stay, nor functions where the shell is sh. Paths of file tools stay relative to the root.'

function descriptionOf(
  { description, runsCommands, inputSchema }: FaceTool,
  { executor }: Workspace,
  keepsShell: boolean,
): string {
  const starts = runsCommands === true && ('command' in inputSchema.properties || 'commands' in inputSchema.properties)
  const isLong = 'background' in inputSchema.properties || 'run_in_background' in inputSchema.properties
  const more = [
    starts && keepsShell && keeps,
    starts && executor?.lacks,
    isLong && executor?.sharesLoopback === true && servers,
  ]
  return [description, ...more].filter((part) => typeof part === 'string').join(' ')
}

/** Takes a checkpoint before each call that may change files. @param listed whether `Bash` lists the changed files */
function withCheckpoints(listed: boolean, face: Face): Face {
  const tools = face.tools.map((tool): FaceTool => {
    if (tool.annotations.readOnlyHint) return tool
    return {
      ...tool,
      async handle(call, input) {
        const { id } = await call.workspace.checkpoint({
          automatic: true,
          label: `before ${tool.name} ${call.number}`,
          signal: call.signal,
        })
        const outcome = await tool.handle(call, input)
        return listed && tool.name === 'Bash' ? withChanges(outcome, id, call) : outcome
      },
    }
  })
  return { ...face, tools: [...tools, ...createCheckpointTools()] }
}

function withoutCommands(face: Face): Face {
  const tools = face.tools.filter(({ runsCommands }) => runsCommands !== true)
  const next: Face['next'] = (operation) => {
    const call = face.next(operation)
    return tools.some(({ name }) => name === call?.tool) ? call : undefined
  }
  return { ...face, tools, next }
}

function checkOptions(
  face: FaceName,
  { commands, maxContext, checkpoints, changes, shell }: ToolsOptions,
  { keepsCheckpoints }: Workspace,
): void {
  const fail = (reason: string, remedy: string): WorkspaceError =>
    new WorkspaceError({ code: 'EINVAL', operation: 'createTools', reason, remedy })
  if (!faceNames.includes(face)) {
    throw fail(`\`face\` must be one of ${faceNames.map((one) => `\`${one}\``).join(', ')}`, 'give one of them')
  }
  if (face === 'openai' && commands === false) {
    throw fail('the face `openai` reads files by commands', 'allow commands, or choose another face')
  }
  if (shell !== undefined && shell !== 'command' && shell !== 'session') {
    throw fail('`shell` must be `command` or `session`', 'give one of them, or leave it out for `command`')
  }
  const needing = checkpoints === true ? 'checkpoints' : changes === true ? 'changes' : undefined
  if (needing !== undefined && !keepsCheckpoints) {
    throw fail(
      'the workspace keeps no checkpoints',
      `make it with \`checkpoints: createCheckpoints({ stateDirectory })\` of \`@ws/snapshots\`, or leave out the option \`${needing}\` here`,
    )
  }
  if (maxContext === undefined || (Number.isSafeInteger(maxContext) && maxContext >= 100)) return
  throw fail('`maxContext` must be a whole number from 100', 'give the tokens of the context')
}

class LiveToolset implements Toolset {
  readonly tools: readonly Tool[]
  readonly #all: readonly Tool[]
  readonly #session: Session
  readonly #face: Face

  constructor(session: Session, face: Face, tools: readonly Tool[]) {
    this.#session = session
    this.#face = face
    this.#all = tools
    // `download` stays callable where it is not offered: the answer gives the reason
    this.tools = tools.filter(({ name }) => name !== 'download' || session.downloads !== undefined)
  }

  async run(name: string, input: unknown, options?: RunOptions): Promise<ToolAnswer> {
    const tool = this.#all.find((one) => one.name === name)
    if (tool !== undefined) return tool.run(input, options)
    options?.signal?.throwIfAborted()
    const names = this.tools.map((one) => one.name)
    const [first] = this.#face.tools
    const meant = nearestName(String(name), names)
    const nearest = this.#face.tools.find((one) => one.name === meant) ?? first
    const offer = { session: this.#session, face: this.#face, input, signal: options?.signal }
    return renderProblem(
      {
        sentence: `\`${String(name).slice(0, 60).toWellFormed()}\` is not a tool here; the tools are ${names.map((one) => `\`${one}\``).join(', ')}`,
        remedy: 'nothing was changed; call one of them',
        data: { code: 'ENOENT' },
      },
      nearest &&
        (await possibleCall(
          { tool: nearest.name, arguments: isArguments(input) ? input : nearest.example },
          { ...offer, tool: nearest },
        )),
    )
  }

  journal(): Session['journal'] {
    return this.#session.journal
  }

  async close(): Promise<void> {
    for (const id of this.#session.background.keys()) {
      const command = this.#session.workspace.commands().find((one) => one.id === id)
      if (command?.kill('SIGKILL') === true) await command.wait().catch(() => undefined) // how a killed command ends does not matter
    }
    this.#session.background.clear()
    await this.#session.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

async function runTool(face: Face, tool: FaceTool, call: Call, input: unknown): Promise<ToolAnswer> {
  const { signal } = call
  try {
    signal?.throwIfAborted()
    return answerOf(face, tool, await tool.handle(call, input), call)
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason
    // let later calls start now: the search for a next call needs no place in the queue
    call.pass()
    const { session } = call
    const { workspace } = session
    const dialect = tool.dialect ?? face
    const within = (dialect.root ?? workspace.root) as VirtualPath
    const way = isMissing(error)
      ? await wayOn(rehearsing(workspace), error.path, { within, signal, isFile: error.code === 'ENOTDIR' })
      : undefined
    const problem = inWordsOf(dialect, { ...problemOf(error), ...way })
    const offer = { session, face, tool, input, signal, isSeen: problem.isSeen }
    return renderProblem(problem, await possibleCall(problem.next, offer))
  } finally {
    call.pass()
  }
}

function answerOf(
  face: Face,
  tool: FaceTool,
  { text, image, data, next }: Outcome,
  { notes, session }: Call,
): ToolAnswer {
  const shown = notes.length === 0 ? text : `${text}\n[note: ${notes.join(' ')}]`
  const call = next === undefined ? undefined : callOfFace(next, { session, face, tool })?.call
  return { isError: false, text: shown, ...(image && { image }), data, ...(call && { next: call }) }
}

function isMissing(error: unknown): error is WorkspaceError & { readonly path: string } {
  return (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) && error.path !== undefined
}

const isArguments = (input: unknown): input is NextCall['arguments'] =>
  typeof input === 'object' && input !== null && !Array.isArray(input)

function inWordsOf({ words }: Dialect, problem: ProblemOptions): ProblemOptions {
  if (words === undefined || problem.next === undefined || 'tool' in problem.next) return problem
  const translate = (text: string): string =>
    text.replaceAll(/`(\w+)`/gu, (whole, word: string) =>
      Object.hasOwn(words, word) ? `\`${words[word] ?? word}\`` : whole,
    )
  // the details also quote lines of a file, which must stay unchanged
  const details = problem.details?.replaceAll(', and `old` has `', `, and \`${words['old'] ?? 'old'}\` has \``)
  return { ...problem, sentence: translate(problem.sentence), remedy: translate(problem.remedy), details }
}

function renderProblem(
  { sentence, remedy, details, data }: ProblemOptions,
  { call: next, isWanted = true }: { readonly call?: NextCall; readonly isWanted?: boolean } = {},
): ToolAnswer {
  const way = next === undefined || isWanted ? remedy : `${remedy}; look first, as below`
  const lines = [escapeUnprintable(`Error: ${sentenceOf(sentence)} ${sentenceOf(capital(way))}`)]
  if (details !== undefined && details !== '') lines.push(details)
  if (next !== undefined) lines.push(`Next: ${next.tool} ${jsonOf(next.arguments)}`)
  return { isError: true, text: lines.join('\n'), data, ...(next && { next }) }
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

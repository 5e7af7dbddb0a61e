import type { Try, Workspace } from '@ws/core'

import { renderProblem, runTool, answering } from './run-tool.ts'
import { approved } from './approve.ts'
import { nearestName } from './arguments/nearest.ts'
import { checkOptions } from './check-options.ts'
import type { Face, FaceTool } from './faces/face.ts'
import { createCheckpointTools, withChanges } from './faces/checkpoint-tools.ts'
import { createFace } from './faces/index.ts'
import { possibleCall } from './next/possible-call.ts'
import { hold } from './session/held-calls.ts'
import { Session } from './session/session.ts'
import type { Call } from './session/session.ts'
import type { NextCall, RunOptions, Tool, ToolAnswer, Toolset, ToolsOptions } from './types.ts'

const defaultContext = 50_000
const defaultWithin = 3_600_000

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
    decideWithin: options.decideWithin ?? defaultWithin,
  })
  const { root } = session.shell === undefined ? {} : workspace
  const made = createFace(name, { downloads: session.downloads !== undefined, root })
  const chosen = options.commands === false ? withoutCommands(made) : made
  const face =
    options.checkpoints === true ? withCheckpoints(name === 'claude-code' && options.changes !== true, chosen) : chosen
  const tools = face.tools.map((tool): Tool => {
    const { name: toolName, inputSchema, annotations } = tool
    const description = descriptionOf(tool, workspace, session.shell !== undefined)
    const run = (input: unknown, { signal }: RunOptions = {}): Promise<ToolAnswer> => {
      const call = session.begin(toolName, signal)
      const run = (one: Call) => runTool(face, tool, one, input)
      const { approve } = options
      if (annotations.readOnlyHint || tool.reads?.(input) === true) return run(call)
      if (approve !== undefined)
        return answering(face, tool, { call, input, work: () => approved({ call, input, approve, run }) })
      const work = async () => {
        session.held.refuseOthers()
        return run(call)
      }
      return answering(face, tool, { call, input, work })
    }
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

  async try(name: string, input: unknown, options: RunOptions = {}): Promise<Try<ToolAnswer>> {
    const tool = this.#face.tools.find((one) => one.name === name)
    const call = this.#session.begin(name, options.signal)
    const work = (inside: Call) =>
      tool === undefined ? this.run(name, input, options) : runTool(this.#face, tool, inside, input)
    try {
      return await this.#session.held.inTurn(call, () => hold(call, work))
    } finally {
      call.pass()
    }
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

const isArguments = (input: unknown): input is NextCall['arguments'] =>
  typeof input === 'object' && input !== null && !Array.isArray(input)

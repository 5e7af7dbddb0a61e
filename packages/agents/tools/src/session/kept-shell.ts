import { type BackgroundCommand, type CommandResult, isWorkspaceError, type VirtualPath } from '@ws/core'
import { getCommandResult, showName } from '@ws/core/executor'

import { ToolProblem } from '../answers/problem.ts'
import type { Call } from './session.ts'

/** The shell that a toolset keeps between its calls: its state, which each command starts in. */
export class KeptShell {
  /** Absent: the root. */
  directory: string | undefined
  /** Empty for a new shell. */
  state = ''
  /** `sh` where bash is missing. */
  name = 'bash'

  restart(): void {
    this.directory = undefined
    this.state = ''
  }

  copy(): Pick<KeptShell, 'directory' | 'state'> {
    return { directory: this.directory, state: this.state }
  }
}

export interface CommandOptions {
  readonly cwd?: string | undefined
  readonly timeout?: number | undefined
  readonly maxOutputBytes?: number | undefined
}

interface RanCommand {
  /** `error`: it came after the command's end. The lease was lost, or the changes could not be saved. */
  readonly result: CommandResult & { readonly error?: unknown }
  /** Sentences about a state that is not kept. */
  readonly notes: readonly string[]
}

/** Runs work that runs commands. With a kept shell, such work runs one after another. */
export async function inTurn<Result>(call: Call, work: () => Promise<Result>): Promise<Result> {
  // the key is not a path: no path is relative
  if (call.session.shell !== undefined) return call.alone(['shell'], work)
  call.pass()
  return work()
}

export async function runCommand(call: Call, command: string, options: CommandOptions): Promise<RanCommand> {
  const run = () =>
    inShell(call, options, (given) =>
      call.workspace.exec(command, { ...given, signal: call.signal }).catch((error: unknown) => {
        const ended = getCommandResult(error)
        if (ended === undefined) throw error
        return { ...ended, error }
      }),
    )
  let { cwd, done: result } = await run()
  if (await lacksBash(call, result)) ({ cwd, done: result } = await run())
  call.record({ change: 'executed', path: cwd, command })
  call.refusals.push(...(result.hints ?? []), ...(result.violations ?? []))
  return { result, notes: await keepState(call, result) }
}

/** Finds out whether a command did not run, since its machine has no bash. The shell is then `sh`. */
async function lacksBash({ session, signal }: Call, { exitStatus, shellState }: CommandResult): Promise<boolean> {
  const { shell, workspace } = session
  if (shell?.name !== 'bash' || exitStatus !== 127 || shellState !== undefined) return false
  const { exitStatus: status } = await workspace.exec('true', { shell: shell.name, login: false, signal })
  if (status === 127) shell.name = 'sh'
  return shell.name === 'sh'
}

/** Starts a command in the background. It has the state of the shell, and changes nothing of it. */
export async function startCommand(call: Call, command: string, options: CommandOptions): Promise<BackgroundCommand> {
  if (call.isHeld) throw inBackground(command) // @defence a call that was taken back, and leaves: runs no command in the background
  const { cwd, done } = await inShell(call, options, (given) => call.workspace.start(command, given))
  call.record({ change: 'executed', path: cwd, command })
  return done
}

function inBackground(command: string): ToolProblem {
  return new ToolProblem({
    sentence: 'A command in the background cannot be held for a decision about its changes',
    remedy: 'nothing was run; run it in the foreground, with a `timeout`',
    next: { operation: 'execute', arguments: { command } },
    data: { code: 'ENOTSUP', argument: 'background' },
  })
}

type ShellOptions = CommandOptions & {
  readonly shell?: string
  readonly shellState?: string
  readonly changes?: boolean | undefined
}

async function inShell<Done>(
  call: Call,
  { cwd: given, ...limits }: CommandOptions,
  run: (options: ShellOptions) => Promise<Done>,
): Promise<{ readonly cwd: VirtualPath; readonly done: Done }> {
  const { shell, options } = call.session
  const { changes } = options
  const kept = given === undefined ? (shell?.directory as VirtualPath | undefined) : undefined
  const cwd = kept ?? (await call.resolve('execute', given ?? '.'))
  if (shell === undefined) return { cwd, done: await run({ ...limits, cwd, changes }) }
  const runAs = (name: string) => run({ ...limits, cwd, changes, shell: name, shellState: shell.state })
  try {
    return { cwd, done: await runAs(shell.name) }
  } catch (error) {
    if (!isWorkspaceError(error) || call.signal?.aborted === true) throw error
    if (error.code === 'ENOEXEC' && shell.name === 'bash' && error.reason.includes('`bash` is missing')) {
      shell.name = 'sh'
      return { cwd, done: await runAs(shell.name) }
    }
    if (kept === undefined || (await isDirectory(call, kept))) throw error
    shell.directory = undefined
    throw new ToolProblem({
      sentence: `The shell's directory ${showName(kept)} is gone, or may not be entered`,
      remedy: `nothing was run; the shell is in ${call.workspace.root} now, with its variables: call again`,
      next: { operation: 'execute', arguments: { command: 'ls -la' } },
      data: { code: error.code, path: kept },
    })
  }
}

async function keepState(call: Call, { shellState }: CommandResult): Promise<readonly string[]> {
  const { shell, workspace } = call.session
  if (shell === undefined) return []
  if (shellState === undefined) {
    return [
      'Note: the shell did not tell its state at the end: its directory and variables are as before this command.',
    ]
  }
  const { directory, data } = shellState
  const real = directory === (shell.directory ?? workspace.root) ? directory : await realDirectory(call, directory)
  const isKept = real !== undefined
  shell.directory = real
  shell.state = data ?? shell.state
  return [
    ...(isKept && real !== directory
      ? [`Note: links are not kept: the shell is in ${showName(real)}, and was in ${showName(directory)}.`]
      : []),
    ...(isKept
      ? []
      : [
          `Note: the shell's directory ${showName(directory)} is not a directory of the workspace; the next command starts in ${workspace.root}.`,
        ]),
    ...(data === undefined
      ? [
          'Note: the variables and functions of the shell are as before this command: they are too large, or cannot be read.',
        ]
      : []),
  ]
}

async function isDirectory({ workspace, signal }: Call, path: string): Promise<boolean> {
  try {
    return (await workspace.stat(path, { followLinks: true, signal })).type === 'directory'
  } catch (error) {
    if (isWorkspaceError(error)) return false
    throw error
  }
}

/** The path without links, at which the next command starts; `undefined` if the workspace has no directory there. */
async function realDirectory(call: Call, path: string): Promise<VirtualPath | undefined> {
  try {
    const real = await call.workspace.realPath(path, { signal: call.signal })
    return (await isDirectory(call, real)) ? real : undefined
  } catch (error) {
    if (isWorkspaceError(error)) return undefined
    throw error
  }
}

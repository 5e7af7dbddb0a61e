import type { CommandResult, RuleHint, RuleViolation, RunningCommand, Workspace } from '@ws/core'
import { Option, type Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { isClosed, standardInput } from '../terminal/input.ts'
import { register } from '../registry.ts'
import { escapeName } from '../terminal/escape.ts'
import { complainTo } from '../terminal/wrap.ts'
import { collect, parseEnvironment, parseTime } from './options.ts'

export interface ExecFlags {
  readonly cwd?: string
  readonly env?: readonly string[]
  readonly timeout?: number
  readonly shell?: string
  readonly login: boolean
  readonly acknowledge?: readonly string[]
  readonly stdin: boolean
  readonly withWorktree?: true
}

/** Limit of bytes kept of each stream, while all output is printed at once. */
const keptWhileStreaming = 1024

export function addExec(program: Command, start: Start): void {
  program
    .command('exec')
    .summary('run a command in the workspace')
    .description(
      'Runs a command in the workspace and streams its output. One argument is a shell command line; several are a ' +
        'program and its arguments.',
    )
    .argument('<command...>', 'after --, so that its own options stay its own')
    .option('--cwd <dir>', 'directory in the workspace (default: its root)')
    .option('--env <NAME=VALUE>', 'add a variable to the clean environment; repeatable', collect)
    .addOption(new Option('--timeout <time>', 'end it after this time: 500ms, 30s, 5m').argParser(parseTime))
    .option('--shell <shell>', "a POSIX shell (default: the user's login shell)")
    .option('--no-login', 'do not read login files: -c instead of -lc')
    .option('--no-stdin', 'give it nothing to read')
    .option(
      '--with-worktree',
      'mount the repository that the root is a worktree of; commits work, its rest is read-only',
    )
    .option('--acknowledge <rule>', 'run without this rule, which the executor cannot enforce; repeatable', collect)
    .addHelpText(
      'after',
      `
Examples:
  $ ws --root . exec -- 'ls -la && git status'
  $ ws --root . exec --timeout 30s -- npm test
  $ ws --root . --executor proot exec --acknowledge 'deny(/private)' -- make
  $ tar c src | ws --root . exec -- tar t`,
    )
    .action((command: string[], flags: ExecFlags) => {
      start((context) => exec(context, command, flags))
    })
}

/**
 * @param beside work with the running command; a failure of it ends the command
 * @returns the command's exit code, or that of `beside` where the command succeeded
 */
export async function exec(
  context: CommandContext,
  command: readonly string[],
  flags: ExecFlags,
  beside?: (workspace: Workspace, running: RunningCommand) => Promise<number>,
): Promise<number> {
  const environment = parseEnvironment(flags.env ?? [])
  try {
    await using workspace = await context.open({ executors: true, ...(await worktree(context, flags)) })
    using _entry = register('exec', command.join(' '))
    await using running = await spawn(context, workspace, command, flags, environment)
    const work = beside?.(workspace, running)
    work?.catch(() => running.kill('SIGKILL')) // reported below
    const { output } = context
    if (!output.json) await stream(context, running)
    const result = await running.wait()
    const besideCode = await work
    context.signal.throwIfAborted()
    if (output.json) await output.value(result)
    else {
      const { violations = [], hints = [], notes = [] } = result
      const remarks = [...violations.map(describeViolation), ...hints.map(describeHint), ...notes.map(describeNote)]
      if (result.survivors) remarks.push(survivorsNote)
      for (const remark of remarks) complainTo(process.stderr, remark)
    }
    return exitCodeOf(result) || (besideCode ?? exitCodes.ok)
  } catch (error) {
    const report = context.complain(error)
    return report.exitCode === exitCodes.failed ? exitCodes.notStarted : report.exitCode
  }
}

/** Loads the code for worktrees on demand, because few commands need it. */
async function worktree({ settings }: CommandContext, { withWorktree }: ExecFlags) {
  if (withWorktree === undefined) return {}
  const { worktreeOf } = await import('../config/worktree.ts')
  return worktreeOf(settings)
}

async function spawn(
  { output, signal }: CommandContext,
  workspace: Workspace,
  [first = '', ...others]: readonly string[],
  flags: ExecFlags,
  env: Record<string, string>,
): Promise<RunningCommand> {
  // a container may have a closed input: commands then read no input, like any program
  const stdin = flags.stdin && !isClosed(0) ? standardInput('give a file or a pipe, or --no-stdin') : undefined
  return await workspace.spawn(others.length === 0 ? first : [first, ...others], {
    cwd: flags.cwd,
    env,
    stdin,
    timeout: flags.timeout,
    shell: flags.shell,
    login: flags.login,
    acknowledge: flags.acknowledge,
    maxOutputBytes: output.json ? undefined : keptWhileStreaming,
    signal,
  })
}

async function stream({ output }: CommandContext, running: RunningCommand): Promise<void> {
  const toStandardError = async () => {
    for await (const chunk of running.stderr) process.stderr.write(chunk)
  }
  const toStandardOutput = async () => {
    for await (const chunk of running.stdout) await output.bytes(chunk)
  }
  await Promise.all([toStandardOutput(), toStandardError()])
}

const survivorsNote =
  'processes of the command could not be ended: they wait for a file system that does not answer, and end when it does'

function describeHint({ rule, path, access, reason, remedy }: RuleHint): string {
  const why = reason ?? (access === 'none' ? 'is denied' : 'is read-only')
  return `the rule ${escapeName(rule)} may be why: ${escapeName(path)} ${escapeName([why, remedy].filter(Boolean).join('; '))}`
}

function describeNote({ path, reason, kept }: NonNullable<CommandResult['notes']>[number]): string {
  return `${escapeName(path)} ${escapeName(reason)}${kept === undefined ? '' : ` as ${escapeName(kept)}`}`
}

export function describeViolation(violation: RuleViolation): string {
  if (violation.kind === 'refused') {
    const { host, port, reason, remedy, shared } = violation
    const of = shared ? ' (for this command, or for another one that ran then)' : ''
    return `the host ${escapeName(host)}${port === undefined ? '' : `:${port}`} ${reason}; ${remedy}${of}`
  }
  const { rule, path, kind, reason, remedy, duration } = violation
  const what =
    kind === 'link'
      ? escapeName(`it ${reason}; ${remedy}`)
      : kind === 'created'
        ? 'the command made this name; the rule holds for it from the next command on'
        : duration !== undefined
          ? `a program outside replaced it, and the command could use the new one for ${duration} ms`
          : 'what covered it was lost while the command ran; the command may have read it'
  return `the rule ${escapeName(rule)} was not held: ${escapeName(path)}: ${what}`
}

export function exitCodeOf({ timedOut, exitStatus }: CommandResult): number {
  return timedOut ? exitCodes.timedOut : exitStatus
}

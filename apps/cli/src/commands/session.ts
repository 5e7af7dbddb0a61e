import type { SessionExit } from '@ws/core'
import { Option, type Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes, signalExitCode } from '../exit-codes.ts'
import { register } from '../registry.ts'
import { attachPipes, attachTerminal, ownTerminal } from '../terminal/attach.ts'
import { standardInput } from '../terminal/input.ts'
import { complainTo } from '../terminal/wrap.ts'
import { describeViolation } from './exec.ts'
import { collect, parseEnvironment, parseTime } from './options.ts'

interface SessionFlags {
  readonly cwd?: string
  readonly env?: readonly string[]
  readonly timeout?: number
  readonly idleTimeout?: number
  readonly shell?: string
  readonly login: boolean
  readonly acknowledge?: readonly string[]
  readonly stdin: boolean
}

export function addSession(program: Command, start: Start): void {
  program
    .command('session')
    .summary('open a shell on a terminal of its own')
    .description(
      'Opens a session in the workspace: an interactive shell, or a command that is given a terminal. Your terminal is ' +
        'attached to it when standard input and output are one; else input and output are passed on as they are.',
    )
    .argument('[command...]', 'after --; default: an interactive shell')
    .option('--cwd <dir>', 'directory in the workspace (default: its root)')
    .option('--env <NAME=VALUE>', 'add a variable to the clean environment; repeatable', collect)
    .addOption(new Option('--timeout <time>', 'end it after this time: 500ms, 30s, 5m').argParser(parseTime))
    .addOption(new Option('--idle-timeout <time>', 'end it when nothing came or went so long').argParser(parseTime))
    .option('--shell <shell>', "a POSIX shell (default: the user's login shell)")
    .option('--no-login', 'do not read login files')
    .option('--no-stdin', 'give it nothing to read')
    .option('--acknowledge <rule>', 'run without this rule, which the executor cannot enforce; repeatable', collect)
    .addHelpText(
      'after',
      `
Examples:
  $ ws --root . session
  $ ws --root . session -- python3
  $ printf 'pwd\\nexit\\n' | ws --root . session --shell bash`,
    )
    .action((command: string[], flags: SessionFlags) => {
      start((context) => session(context, command, flags))
    })
}

async function session(
  context: CommandContext,
  [first, ...others]: readonly string[],
  flags: SessionFlags,
): Promise<number> {
  const env = parseEnvironment(flags.env ?? [])
  const { output, signal } = context
  try {
    const terminal = output.json ? undefined : ownTerminal()
    const input = terminal === undefined && flags.stdin ? standardInput('open it, or give --no-stdin') : undefined
    await using workspace = await context.open({ executors: true })
    using _entry = register('session', [first ?? '', ...others].join(' ').trim())
    const { TERM } = process.env
    await using opened = await workspace.openSession({
      command: first === undefined ? undefined : others.length === 0 ? first : [first, ...others],
      cwd: flags.cwd,
      env: { ...(terminal !== undefined && TERM ? { TERM } : {}), ...env },
      shell: flags.shell,
      login: flags.login,
      acknowledge: flags.acknowledge,
      timeout: flags.timeout,
      idleTimeout: flags.idleTimeout,
      columns: terminal?.columns,
      rows: terminal?.rows,
      signal,
    })
    if (terminal !== undefined) await attachTerminal(opened, output)
    else await attachPipes(opened, output.json ? { ...output, bytes: async () => undefined } : output, input)
    const exit = await opened.wait()
    signal.throwIfAborted()
    if (!output.json) for (const one of exit.violations ?? []) complainTo(process.stderr, describeViolation(one))
    if (output.json) await output.value({ ...exit, output: opened.read({ since: 0 }).text })
    return exitCodeOf(exit)
  } catch (error) {
    const report = context.complain(error)
    return report.exitCode === exitCodes.failed ? exitCodes.notStarted : report.exitCode
  }
}

function exitCodeOf({ endedBy, signal, exitCode }: SessionExit): number {
  if (endedBy === 'timeout' || endedBy === 'idleTimeout') return exitCodes.timedOut
  if (signal !== null) return signalExitCode(signal)
  return exitCode ?? exitCodes.failed
}

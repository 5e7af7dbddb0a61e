import type { WorkspaceError } from '@ws/core'
import type { CommandRequest } from '@ws/core/executor'

import type { DescriptorSource, ExtraDescriptors } from '../../run/types.ts'
import { invalid } from '../../run/validate.ts'
import { terminalCommand } from '../../terminal/command.ts'
import type { TerminalDevice } from '../../terminal/start.ts'
import { isFish, shellName } from './resolve.ts'
import type { ShellArgumentsOptions, ShellInvocation } from './types.ts'

/** Bytes of the longest single argument that Linux takes (`MAX_ARG_STRLEN`, the final NUL included). */
export const longestArgument = 128 * 1024
/** Bytes of the longest command altogether. */
export const longestCommand = 16 * 2 ** 20

/** The descriptor on which an over-long command travels. One digit: dash knows no other. */
const commandDescriptor = 9

/**
 * `[shell, '-lc', command]` [LS4], or `-c` with `login: false` [LS7]. The command is an element of its own, never pasted
 * into a text.
 *
 * @throws WorkspaceError `EINVAL` for a blank command, one with NUL, or one over the 128 KiB of one argument: see
 * {@link shellInvocation}.
 */
export function shellArguments(shell: string, command: string, options: ShellArgumentsOptions = {}): string[] {
  if (Buffer.byteLength(checkCommand(command)) >= longestArgument)
    throw invalid('exec', `the command is longer than ${longestArgument - 1} bytes`, 'write it to a file and run that')
  if (options.bare === true) return [shell, ...bareFlags(shell), '-c', command]
  return [shell, options.login === false ? '-c' : '-lc', command]
}

/**
 * Like {@link shellArguments}, for commands of up to 16 MiB: an over-long one travels on descriptor 9, which is read
 * and closed before the command's first word runs. Standard input, `$0`, `$#`, line numbers and exit status are those
 * of `-c`; messages about a syntax error say `eval` in addition. Needs `cat` on the PATH that the login files leave.
 *
 * @throws WorkspaceError `EINVAL` for a blank command, one with NUL, or one over the cap.
 */
export function shellInvocation(shell: string, command: string, options: ShellArgumentsOptions = {}): ShellInvocation {
  const bytes = Buffer.from(checkCommand(command))
  if (bytes.length < longestArgument) return { argv: shellArguments(shell, command, options), extraFds: new Map() }
  if (bytes.length > longestCommand)
    throw invalid('exec', `the command is longer than ${longestCommand} bytes`, 'write it to a file and run that')
  return {
    argv: shellArguments(shell, isFish(shell) ? fishReader : posixReader, options),
    extraFds: new Map<number, DescriptorSource>([[commandDescriptor, bytes]]),
  }
}

// A command substitution drops newlines at the end, which can matter (a here-document): hence the full stop after it.
// The parameter is emptied, and the descriptor closed, in the line that the command starts in: line numbers stay.
const posixReader = `set -- "$(command cat <&${commandDescriptor}; printf .)"; eval "set --; exec ${commandDescriptor}<&-; \${1%.}"`
const fishReader = `eval (command cat <&${commandDescriptor} | string collect --no-trim-newlines) ${commandDescriptor}<&-`

/** An interactive shell: `[shell, '-l', '-i']`, without `-l` for `login: false` [LS7]. */
export function interactiveShellArguments(shell: string, options: ShellArgumentsOptions = {}): string[] {
  if (options.bare === true) return [shell, ...bareFlags(shell), '-i']
  return [shell, ...(options.login === false ? [] : ['-l']), '-i']
}

/**
 * Without them, zsh and fish read files of HOME before every command, and bash does where its standard input is a socket.
 * The other shells read what `ENV` names, and that only when they are interactive.
 */
function bareFlags(shell: string): string[] {
  switch (shellName(shell)) {
    case 'bash':
    case 'rbash':
      return ['--noprofile', '--norc']
    case 'zsh':
      return ['-f']
    case 'fish':
      return ['--no-config']
    default:
      return []
  }
}

/** @throws WorkspaceError `EINVAL` if it is blank or contains NUL. */
function checkCommand(command: string): string {
  if (command.trim() === '') throw fail('the command is blank')
  if (command.includes('\0')) throw fail('the command contains NUL')
  return command
}

function fail(reason: string): WorkspaceError {
  return invalid('exec', reason, 'give a text like `ls -la`, or an array like `["ls", "-la"]`')
}

export interface CommandLine {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly extraFds: ExtraDescriptors
}

/** Runs a request's command in a shell, on its terminal where there is one. There, a blank command is an interactive shell. */
export function commandLine(
  { command, login, bare }: Pick<CommandRequest, 'command' | 'login' | 'bare'>,
  { shell, env, terminal }: CommandLineOptions,
): CommandLine {
  const { argv, extraFds } =
    terminal !== undefined && command === ''
      ? { argv: interactiveShellArguments(shell, { login, bare }), extraFds: new Map() }
      : shellInvocation(shell, command, { login, bare })
  if (terminal === undefined) return { argv, env, extraFds }
  const led = terminalCommand(argv, env, terminal.descriptor)
  return { ...led, extraFds: new Map([...extraFds, ...led.extraFds]) }
}

export interface CommandLineOptions {
  /** Host path. */
  readonly shell: string
  readonly env: Readonly<Record<string, string>>
  readonly terminal?: TerminalDevice | undefined
}

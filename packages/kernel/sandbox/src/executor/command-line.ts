import { accessSync, constants, statSync } from 'node:fs'
import { basename } from 'node:path'
import { WorkspaceError } from '@ws/core'

import type { DescriptorSource, ExtraDescriptors } from '../run/types.ts'
import { invalid } from '../errors.ts'
import { terminalCommand } from '../terminal/command.ts'
import type { TerminalDevice } from '../terminal/start.ts'
import type { DriverRequest } from './driver.ts'

export interface ResolveShellOptions {
  /** The caller's shell: an absolute path, or the bare name of a POSIX shell. Blank: the default shell. */
  readonly shell?: string | undefined
  /** The variables that may contain `SHELL`. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Returns whether a path is executable where the shell runs. Default: checks this machine. */
  readonly isExecutable?: ((path: string) => boolean) | undefined
  /** Returns whether commands can see a path. Default: always true. */
  readonly existsInView?: ((path: string) => boolean) | undefined
}

export interface ShellArgumentsOptions {
  /** Read the login files (`-l`). Default true. */
  readonly login?: boolean | undefined
  /** Read no start-up file of the user, in any shell. Default false. */
  readonly bare?: boolean | undefined
}

export interface ShellInvocation {
  readonly argv: readonly string[]
  /** Descriptors of the shell by number. Empty unless the command is longer than one argument may be. */
  readonly extraFds: ExtraDescriptors
}

const posixFamily = new Set(['bash', 'zsh', 'sh', 'dash', 'ksh', 'ksh93', 'mksh', 'ash', 'rbash'])

export function shellName(shell: string): string {
  return basename(shell)
}

/** Fish has its own syntax for quotes, `eval` and descriptors, but accepts `-l` and `-c`. */
export function isFish(shell: string): boolean {
  return shellName(shell) === 'fish'
}

function isShellName(name: string): boolean {
  return posixFamily.has(name)
}

/** Returns whether the last name of a path is a POSIX shell or fish. */
function isShell(path: string): boolean {
  return isShellName(shellName(path)) || isFish(path)
}

const fallbacks = ['/bin/zsh', '/usr/bin/zsh', '/bin/bash', '/usr/bin/bash', '/bin/sh', '/usr/bin/sh']
const directories = ['/bin', '/usr/bin', '/usr/local/bin']
const operation = 'exec'

/**
 * Returns the absolute path of the shell [LS2, LS3, LS7]: the caller's, else a valid `$SHELL`, else a usual path, else `/bin/sh`.
 * A valid `$SHELL` is an absolute path to an executable shell that commands can see. An invalid `$SHELL` is ignored.
 *
 * @throws WorkspaceError `EINVAL`: the caller's shell is neither an absolute path of a shell nor a POSIX name; `ENOEXEC`: it is missing
 */
export function resolveShell(options: ResolveShellOptions = {}): string {
  const { shell = '', env = process.env, isExecutable = isExecutableFile, existsInView = () => true } = options
  const usable = (path: string) => isExecutable(path) && existsInView(path)
  if (shell.trim() !== '') return requestedShell(shell, usable)
  const login = env.SHELL ?? ''
  if (login.startsWith('/') && isShell(login) && usable(login)) return login
  return fallbacks.find(usable) ?? '/bin/sh'
}

function requestedShell(shell: string, usable: (path: string) => boolean): string {
  const remedy = 'give an absolute path, or one of bash, zsh, sh, dash, ksh'
  if (shell.includes('\0')) throw invalid(operation, 'the shell contains NUL', remedy)
  const bare = !shell.includes('/')
  if (!bare && !shell.startsWith('/')) throw invalid(operation, 'the shell is a relative path', remedy)
  if (bare ? !isShellName(shell) : !isShell(shell))
    throw invalid(operation, 'this is not a shell of the POSIX family', remedy)
  const found = bare ? directories.map((directory) => `${directory}/${shell}`).find(usable) : usable(shell) && shell
  if (found) return found
  const reason = `the shell \`${shellName(shell)}\` is missing or not executable`
  throw new WorkspaceError({ code: 'ENOEXEC', operation, reason, remedy: 'leave `shell` out for the default' })
}

function isExecutableFile(path: string): boolean {
  try {
    // Avoids an exception, which costs more than the call: missing shells are usual.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Maximum bytes of a single argument on Linux (`MAX_ARG_STRLEN`, with its NUL). */
export const longestArgument = 128 * 1024
/** Maximum bytes of a command. */
export const longestCommand = 16 * 2 ** 20

/** The descriptor of a command that is too long for an argument. Dash accepts only one digit. */
const commandDescriptor = 9

/**
 * Returns `[shell, '-lc', command]` [LS4], or with `-c` for `login: false` [LS7].
 * @throws WorkspaceError `EINVAL` for a blank command, NUL, or more than 128 KiB: see {@link shellInvocation}
 */
export function shellArguments(shell: string, command: string, options: ShellArgumentsOptions = {}): string[] {
  if (Buffer.byteLength(checkCommand(command)) >= longestArgument)
    throw invalid('exec', `the command is longer than ${longestArgument - 1} bytes`, 'write it to a file and run that')
  if (options.bare === true) return [shell, ...bareFlags(shell), '-c', command]
  return [shell, options.login === false ? '-c' : '-lc', command]
}

/**
 * Works like {@link shellArguments}, up to 16 MiB. The shell reads a longer command from descriptor 9, and closes it before the command runs.
 * Input, `$0`, `$#`, line numbers and exit status are as with `-c`. Needs `cat` in the PATH after login files.
 *
 * @throws WorkspaceError `EINVAL` for a blank command, NUL, or more than 16 MiB
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

// A substitution drops final line ends, which can matter (a here-document), so a full stop follows them.
// The reader is one line, so that line numbers do not change.
const posixReader = `set -- "$(command cat <&${commandDescriptor}; printf .)"; eval "set --; exec ${commandDescriptor}<&-; \${1%.}"`
const fishReader = `eval (command cat <&${commandDescriptor} | string collect --no-trim-newlines) ${commandDescriptor}<&-`

/** Returns the arguments of an interactive shell: `[shell, '-l', '-i']`, without `-l` for `login: false` [LS7]. */
export function interactiveShellArguments(shell: string, options: ShellArgumentsOptions = {}): string[] {
  if (options.bare === true) return [shell, ...bareFlags(shell), '-i']
  return [shell, ...(options.login === false ? [] : ['-l']), '-i']
}

/** Flags against start-up files of HOME. Zsh and fish always read some, bash if stdin is a socket. Other interactive shells read `ENV`. */
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

/** @throws WorkspaceError `EINVAL` for a blank command or NUL */
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

/** Returns the invocation of a shell for a request. An empty command means an interactive shell: only sessions have one. */
export function commandLine(
  { command: line, login, bare, inState }: Pick<DriverRequest, 'command' | 'login' | 'bare' | 'inState'>,
  { shell, env, terminal }: CommandLineOptions,
): CommandLine {
  const command = inState === undefined ? line : inState(checkCommand(line), shell)
  const { argv, extraFds } =
    command === ''
      ? { argv: interactiveShellArguments(shell, { login, bare }), extraFds: new Map() }
      : shellInvocation(shell, command, { login, bare })
  if (terminal === undefined) return { argv, env, extraFds }
  const led = terminalCommand(argv, env, terminal.descriptor)
  return { ...led, extraFds: new Map([...extraFds, ...led.extraFds]) }
}

export interface CommandLineOptions {
  readonly shell: string
  readonly env: Readonly<Record<string, string>>
  readonly terminal?: TerminalDevice | undefined
}

import type { WorkspaceError } from '@ws/core'
import { invalid } from '../run/validate.ts'
import { isShell, isShellName } from './family.ts'
import { quoteArgument } from './quote.ts'

/** One command in the form that policy sees and a shell runs. */
export interface NormalisedCommand {
  readonly command: string
  /** Set when the array was `<shell> -c …` already: that shell (a name or path) and its login flag, so that nothing is wrapped twice. */
  readonly shell?: string
  readonly login?: boolean
}

/**
 * A command given as text stays as it is; an array is joined with shell quoting [LS5]. `['bash', '-lc', text]` is
 * unwrapped, so that it is not wrapped twice [LS12] and policy sees `text`, not a shell [LS6]; with further elements
 * (`$0`, `$1`, …) it is joined like any other.
 *
 * @param options `shell`: the shell that will run it; fish quotes otherwise than the rest
 * @throws WorkspaceError `EINVAL`, each with its own reason: an element that is no string, an empty array, a blank
 * program, a blank command, NUL.
 */
export function normaliseCommand(
  command: string | readonly string[],
  options: { readonly shell?: string | undefined } = {},
): NormalisedCommand {
  if (typeof command === 'string') return { command: checkCommand(command) }
  if (!Array.isArray(command)) throw fail('the command is neither a text nor an array of texts')
  if (command.length === 0) throw fail('the command is an empty array')
  if (command.some((element) => typeof element !== 'string')) throw fail('an element of the command is not a text')
  const [program = '', flags, text, ...rest] = command as readonly string[]
  if (program.trim() === '') throw fail('the program of the command is blank')
  const shell = program.startsWith('/') ? isShell(program) : isShellName(program)
  if (shell && text !== undefined && rest.length === 0 && (flags === '-c' || flags === '-lc'))
    return { command: checkCommand(text), shell: program, login: flags === '-lc' }
  const joined = command.map((element: string) => quoteArgument(element, options.shell)).join(' ')
  return { command: checkCommand(joined) }
}

/** @throws WorkspaceError `EINVAL` if it is blank or contains NUL. */
export function checkCommand(command: string): string {
  if (command.trim() === '') throw fail('the command is blank')
  if (command.includes('\0')) throw fail('the command contains NUL')
  return command
}

function fail(reason: string): WorkspaceError {
  return invalid('exec', reason, 'give a text like `ls -la`, or an array like `["ls", "-la"]`')
}

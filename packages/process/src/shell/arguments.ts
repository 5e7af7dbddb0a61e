import type { ShellArgumentsOptions, ShellInvocation } from './types.ts'

/**
 * `[shell, '-lc', command]`, or `-c` with `login: false`. The command is an element of its own, never pasted into a text.
 *
 * @throws WorkspaceError `EINVAL` for a blank command, one with NUL, or one over the 128 KiB of one argument: see
 * {@link shellInvocation}.
 */
export function shellArguments(_shell: string, _command: string, _options: ShellArgumentsOptions = {}): string[] {
  throw new Error('not written yet')
}

/**
 * Like {@link shellArguments}, for commands of up to 16 MiB: an over-long one travels on descriptor 9, which is read
 * and closed before the command's first word runs. `$0`, `$#`, exit status and line numbers are those of `-c`.
 *
 * @throws WorkspaceError `EINVAL` for a blank command, one with NUL, or one over the cap.
 */
export function shellInvocation(
  _shell: string,
  _command: string,
  _options: ShellArgumentsOptions = {},
): ShellInvocation {
  throw new Error('not written yet')
}

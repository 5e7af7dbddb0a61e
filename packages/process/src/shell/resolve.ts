import type { ResolveShellOptions } from './types.ts'

/**
 * The shell that runs a command: the caller's, else a valid `$SHELL`, else the first of the usual places, else `/bin/sh`.
 *
 * @returns an absolute path
 * @throws WorkspaceError `EINVAL` for a shell that is neither absolute nor of the POSIX family, or not a shell;
 * `ENOEXEC` for one that is asked for and missing.
 */
export function resolveShell(_options: ResolveShellOptions = {}): string {
  throw new Error('not written yet')
}

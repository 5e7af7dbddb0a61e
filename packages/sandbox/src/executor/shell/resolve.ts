import { accessSync, constants, statSync } from 'node:fs'
import { basename } from 'node:path'

import { WorkspaceError } from '@ws/core'

import { invalid } from '../../run/validate.ts'
import type { ResolveShellOptions } from './types.ts'

const posixFamily = new Set(['bash', 'zsh', 'sh', 'dash', 'ksh', 'ksh93', 'mksh', 'ash', 'rbash'])

/** `bash` for `/usr/bin/bash`. */
export function shellName(shell: string): string {
  return basename(shell)
}

/** Fish quotes, evaluates and reads descriptors in its own way; `-l` and `-c` it has too. */
export function isFish(shell: string): boolean {
  return shellName(shell) === 'fish'
}

/** True for the bare name of a shell of the POSIX family. */
function isShellName(name: string): boolean {
  return posixFamily.has(name)
}

/** True for a path whose last part names a shell: the POSIX family, and fish. */
function isShell(path: string): boolean {
  return isShellName(shellName(path)) || isFish(path)
}

const fallbacks = ['/bin/zsh', '/usr/bin/zsh', '/bin/bash', '/usr/bin/bash', '/bin/sh', '/usr/bin/sh']
const directories = ['/bin', '/usr/bin', '/usr/local/bin']
const operation = 'exec'

/**
 * The shell that runs a command [LS2, LS3, LS7]: the caller's, else a valid `$SHELL`, else the first of the usual
 * places, else `/bin/sh`. `$SHELL` is valid if it is an absolute path to an executable shell that the view has too;
 * `nologin` and `false` are not shells. An invalid `$SHELL` is passed over; an invalid shell of the caller is an error.
 *
 * @returns an absolute path
 * @throws WorkspaceError `EINVAL` for a shell that is neither absolute nor of the POSIX family, or not a shell;
 * `ENOEXEC` for a requested shell that is missing.
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
    // Missing ones are the usual case, and an exception costs more than the call.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

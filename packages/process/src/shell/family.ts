import { basename } from 'node:path'

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
export function isShellName(name: string): boolean {
  return posixFamily.has(name)
}

/** True for a path whose last part names a shell: the POSIX family, and fish. */
export function isShell(path: string): boolean {
  return isShellName(shellName(path)) || isFish(path)
}

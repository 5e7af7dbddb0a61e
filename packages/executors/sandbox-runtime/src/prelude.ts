import type { CommandLine } from '@ws/sandbox'

/** Descriptors of the first shell in the sandbox. The library and bubblewrap use 9 and 10. */
export const descriptors = { errors: 5, long: 6, mark: 7, script: 8, covers: 10 } as const

/** The command that the library wraps. Everything else travels by descriptor, since every user can read arguments. */
export const prelude = `eval "$(command cat <&${descriptors.script})"`

/** Variables that shells do not let a script set, or not to any value. */
const fixed = new Set([
  ...['UID', 'EUID', 'GID', 'EGID', 'PPID', 'BASHOPTS', 'SHELLOPTS', 'BASH_VERSINFO', 'BASH_VERSION'],
  ...['OPTIND', 'LINENO', 'RANDOM', 'SECONDS', 'GROUPS', 'DIRSTACK'],
])

/** The mark that the command is about to start. */
export const started = 'started'

/** Returns the script of the first shell: it enters the directory, says so, takes the command's variables and becomes the shell. */
export function preludeScript({ argv, env, extraFds }: CommandLine, cwd: string, hasErrors: boolean): string {
  const { errors, long, mark, script } = descriptors
  const settable = Object.entries(env).filter(([name]) => !fixed.has(name))
  const others = Object.entries(env).filter(([name]) => fixed.has(name))
  const words = settable.map(([name, value]) => `${name}=${quoted(value)}`)
  const prefix = others.length === 0 ? [] : ['/usr/bin/env', ...others.map(([name, value]) => `${name}=${value}`)]
  return [
    `exec ${script}<&-`,
    `cd ${quoted(cwd)} || exit 125`,
    'unset OLDPWD SHLVL',
    `printf ${started} >&${mark}`,
    `exec ${mark}>&-${extraFds.has(9) ? ` 9<&${long} ${long}<&-` : ''}`,
    ...(words.length === 0 ? [] : [`{ export ${words.join(' ')}; } 2> /dev/null`]),
    ...(hasErrors ? [`exec 2>&${errors} ${errors}>&-`] : []),
    `exec ${[...prefix, ...argv].map(quoted).join(' ')}`,
  ].join('\n')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

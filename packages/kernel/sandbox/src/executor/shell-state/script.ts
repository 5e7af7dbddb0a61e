import { execError } from '@ws/core/executor'

import { isFish, shellName } from '../command-line.ts'

/** Two tokens around each report. No script contains them together: output that shows the script is not mistaken for a report. */
export interface Mark {
  readonly first: string
  readonly second: string
}

export interface ScriptOptions {
  readonly mark: Mark
  /** Shell code that makes the state, one character for each byte. */
  readonly state: string
  /** The report is checked by its length. False where the executor rewrites output. */
  readonly isCounted: boolean
}

/** Returns the text between two parts of a report. */
export const separatorOf = ({ second }: Mark): string => `\n-${second}-\n`

/** Returns one line of shell code: it reports the variables, makes the state, runs the command, and reports the new state. */
export function stateScript(command: string, shell: string, options: ScriptOptions): string {
  const name = shellName(shell)
  if (name === 'zsh' || isFish(shell)) {
    const reason = `the state of ${name} cannot be kept for later commands`
    throw execError('ENOTSUP', reason, { remedy: 'leave `shellState` out, or give bash or sh as `shell`' })
  }
  const { mark, state, isCounted } = options
  const isBash = name === 'bash'
  const { own, descriptor, variables, parts, off, toBytes, quote } = isBash ? bash : plain
  const { first, second } = mark
  const between = `${own}printf '\\n%s\\n' -${second}-`
  const text = `$(${[variables, ...parts].join(`; ${between}; `)}; ${own}:)`
  const length = isCounted ? '"${#4}"' : "''"
  const values = `"$1$2" "$3" -${second}- ${length} -${second}- "$4" "$1$2"`
  // In a subshell: the values are no variables of the command, and no option of `set` disturbs.
  const report =
    `(__ws=$-; ${own}set ${off}; ${own}set -- ${first} ${second} "$(${own}pwd; ${own}echo .)" "${text}"; ${toBytes}; ` +
    `${own}printf '%s%s\\n%s\\n%s\\n%s\\n%s%s' ${values}) 2>/dev/null >&${descriptor}`
  const show = `printf '%s%s' ${first} ${second}`
  const code = isBash ? ansi(`${state}\n${own}:`) : quote(`${Buffer.from(state, 'latin1').toString('utf8')}\n${own}:`)
  // The command is on the first line, for its line numbers. A trap reports the state after `exit`, and the last part without the trap:
  // the command may have one of its own. Errors of the reports are not the command's.
  return [
    `exec ${descriptor}>&1`,
    `{ ${show}; ${variables}; ${show}; } >&${descriptor}`,
    `trap ${quote(report)} EXIT`,
    `${own}eval ${code} >/dev/null 2>&1`,
    `${own}eval ${quote(command)}`,
    `{ ${own}set -- "$?"; ${report}; case $(${own}trap) in *${first}*) ${own}trap - EXIT;; esac; } 2>/dev/null`,
    `${own}exit "$1"`,
  ].join('; ')
}

/** Quotes text, with all bytes but ASCII as numbers. */
function ansi(text: string): string {
  const number = (byte: string): string => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`
  return `$'${text.replaceAll(/[^ -&(-[\]-~]/g, number)}'`
}

const bash = {
  /** Before a builtin: neither a function nor an alias of the command takes its place. */
  own: '\\builtin ',
  descriptor: 49,
  variables: '\\builtin declare -p',
  parts: [
    '\\builtin declare -f; \\builtin declare -Fx',
    '\\builtin shopt -p',
    '\\builtin alias -p',
    '\\builtin set +o; for __o in e k x; do case $__ws in *$__o*) \\builtin echo "set -$__o";; esac; done',
    '\\builtin umask -p',
  ],
  /** Options that disturb a report. */
  off: '+exk',
  toBytes: '\\builtin declare LC_ALL=C',
  quote: (text: string) => `$'${text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`,
}

const plain: typeof bash = {
  own: '\\',
  descriptor: 8,
  variables: '\\set; \\export -p; \\readonly -p',
  parts: [
    ':',
    ':',
    '\\alias',
    '\\set +o; for __o in e x; do case $__ws in *$__o*) \\echo "set -$__o";; esac; done',
    '\\printf "umask "; \\umask',
  ],
  off: '+ex',
  toBytes: 'LC_ALL=C',
  quote: (text) => `'${text.replaceAll("'", `'\\''`)}'`,
}

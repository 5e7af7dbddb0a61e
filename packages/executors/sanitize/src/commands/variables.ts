import { refuse } from '../refusal.ts'

/** Variables that affect later commands or file lookups, or whose values are computed. */
const dangerous =
  /^(?:PATH|LD_.*|ENV|IFS|CDPATH|GLOB.*|SHELL.*|BASH.*|PS4|PROMPT_COMMAND|HOME|PWD|OLDPWD|TMPDIR|PYTHON.*|PERL.*|NODE_.*|NPM_.*|RUBY.*|GIT_.*|PAGER|EDITOR|VISUAL|LESS.*|AWK.*|GREP_.*|TAR_OPTIONS|GZIP|POSIXLY_CORRECT|FIGNORE|HIST.*|INPUTRC|TERMINFO.*|LOCPATH|NLSPATH|TEXTDOMAIN.*|GCONV_PATH|MALLOC_.*|XDG_.*|EXECIGNORE|DIFF_.*|LS_.*|ZIPOPT|MAGIC|BC_.*|UNZIP|XZ_.*|OPT.*|S?RANDOM|SECONDS|EPOCH.*|LINENO|FUNCNEST|TMOUT)$/

/** Returns whether a later command may have the variable of an earlier one. */
export function isHarmless(name: string): boolean {
  return !dangerous.test(name) && !/^(?:LANG|LC_)/.test(name)
}

/** @param value the value, if known. A slash in a language variable means a file of translations */
export function refuseDangerous(name: string, value: string | undefined, what: string): void {
  if (dangerous.test(name) || (/^(?:LANG|LC_)/.test(name) && value?.includes('/') !== false)) refuse('variable', what)
}

/** One command in the two forms that the rest needs. */
export interface NormalisedCommand {
  /** What the shell runs, what policy sees. */
  readonly command: string
  /** Set when the array was `<shell> -c …` already: that shell and its login flag, so that nothing is wrapped twice. */
  readonly shell?: string
  readonly login?: boolean
}

/**
 * A command given as text stays as it is; an array is joined with shell quoting. `['bash', '-lc', text]` is unwrapped.
 *
 * @throws WorkspaceError `EINVAL`, each with its own reason: an element that is no string, an empty array, a blank
 * program, a blank command, NUL.
 */
export function normaliseCommand(_command: string | readonly string[]): NormalisedCommand {
  throw new Error('not written yet')
}

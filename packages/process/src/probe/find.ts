export interface FoundProgram {
  /** Absolute host path, links resolved. */
  readonly path: string
  /** First line of what `--version` printed, or `undefined` if it failed. */
  readonly version?: string
}

export interface FindProgramOptions {
  /** Absolute directories to look in. Default: the system's own; never this process's PATH, never a workspace. */
  readonly path?: readonly string[] | undefined
  /** Arguments that make it print its version; `null` to run nothing. Default `['--version']`. */
  readonly versionArguments?: readonly string[] | null | undefined
  /** Milliseconds for that. Default 2,000. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Looks a program up in fixed system directories. Missing: `undefined`.
 *
 * @throws WorkspaceError `EINVAL` for a name with a slash or NUL, or a directory that is not absolute.
 */
export async function findProgram(_name: string, _options: FindProgramOptions = {}): Promise<FoundProgram | undefined> {
  throw new Error('not written yet')
}

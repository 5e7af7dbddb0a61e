export interface CleanEnvironmentOptions {
  /** HOME inside the view, also the start of PATH decisions. */
  readonly home: string
  /** PWD inside the view. Default: `home`. */
  readonly pwd?: string | undefined
  /** USER and LOGNAME. Default `user`. */
  readonly user?: string | undefined
  /** PATH. Default {@link defaultPath}. */
  readonly path?: string | undefined
  /** SHELL inside the view. Default: not set. */
  readonly shell?: string | undefined
  /** The caller's variables; they win over everything but PWD. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Names, or prefixes ending in `*`, that are taken over from `parent`. Default {@link defaultAllowList}. */
  readonly allow?: readonly string[] | undefined
  /** Default `process.env`. */
  readonly parent?: Readonly<Record<string, string | undefined>> | undefined
}

/** PATH of commands when nothing else is said. */
export const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What commands inherit when nothing else is said: language, terminal and time zone. No secret lives in these. */
export const defaultAllowList: readonly string[] = ['LANG', 'LANGUAGE', 'LC_*', 'TERM', 'COLORTERM', 'NO_COLOR', 'TZ']

/**
 * The whole environment of a command: what is allowed of the parent's, HOME, PWD, USER, LOGNAME, PATH, and the
 * caller's own. Nothing else of the parent's is in it [RP16].
 *
 * @throws WorkspaceError `EINVAL` for a name or value that cannot be in an environment.
 */
export function cleanEnvironment(_options: CleanEnvironmentOptions): Record<string, string> {
  throw new Error('not written yet')
}

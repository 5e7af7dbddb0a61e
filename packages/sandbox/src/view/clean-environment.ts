import { validateEnvironment } from '../run/validate.ts'

export interface CleanEnvironmentOptions {
  /** HOME inside the view. */
  readonly home: string
  /** PWD inside the view. Default: `home`. */
  readonly pwd?: string | undefined
  /** USER and LOGNAME. Default `user`. */
  readonly user?: string | undefined
  /** PATH. Default {@link defaultPath}. */
  readonly path?: string | undefined
  /** SHELL inside the view. Default: not set. */
  readonly shell?: string | undefined
  /** Where programs keep caches and histories, inside the view. Default: HOME. */
  readonly cache?: string | undefined
  /** The caller's variables; they win over all but PWD. `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Names, or prefixes ending in `*`, that are taken over from `parent` besides language, terminal and time zone. */
  readonly allow?: readonly string[] | undefined
  /** Default `process.env`. */
  readonly parent?: Readonly<Record<string, string | undefined>> | undefined
}

/** PATH of commands when nothing else is said. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Variables that commands inherit by default: language, terminal and time zone. No secret lives in these. */
const defaultAllowList: readonly string[] = ['LANG', 'LANGUAGE', 'LC_*', 'TERM', 'COLORTERM', 'NO_COLOR', 'TZ']

/** A command's environment: the allowed part of the parent's [RP16], and the caller's. @throws WorkspaceError `EINVAL` */
export function cleanEnvironment(options: CleanEnvironmentOptions): Record<string, string> {
  const { home, pwd = home, user = 'user', path = defaultPath, shell, env = {}, parent = process.env } = options
  const isAllowed = allowance([...defaultAllowList, ...(options.allow ?? [])])
  // Names first: each value of `process.env` is a call of its own.
  const inherited = Object.keys(parent).flatMap((name) => (isAllowed(name) ? [[name, parent[name]] as const] : []))
  const own = { HOME: home, USER: user, LOGNAME: user, PATH: path, SHELL: shell, ...cacheVariables(options.cache) }
  // A Map, since an object would take `__proto__` for something else.
  const merged = new Map([...inherited, ...Object.entries(own), ...Object.entries(env), ['PWD', pwd] as const])
  const result: Record<string, string> = Object.create(null)
  for (const [name, value] of merged) if (value !== undefined) result[name] = value
  validateEnvironment(result, 'exec')
  return result
}

/** Most programs obey `XDG_CACHE_HOME`, and the others have variables of their own. No history is kept. */
function cacheVariables(cache: string | undefined): Record<string, string> {
  if (cache === undefined) return {}
  const below = (name: string): string => `${cache === '/' ? '' : cache}/${name}`
  return {
    XDG_CACHE_HOME: cache,
    XDG_STATE_HOME: below('state'),
    npm_config_cache: below('npm'),
    PNPM_HOME: below('pnpm'),
    YARN_CACHE_FOLDER: below('yarn'),
    YARN_GLOBAL_FOLDER: below('berry'),
    BUN_INSTALL_CACHE_DIR: below('bun'),
    CARGO_HOME: below('cargo'),
    GOMODCACHE: below('go'),
    GRADLE_USER_HOME: below('gradle'),
    NUGET_PACKAGES: below('nuget'),
    HISTFILE: '/dev/null',
    LESSHISTFILE: '-',
    NODE_REPL_HISTORY: '',
    PYTHON_HISTORY: '/dev/null',
    SQLITE_HISTORY: '',
  }
}

function allowance(allow: readonly string[]): (name: string) => boolean {
  const names = new Set(allow.filter((entry) => !entry.endsWith('*')))
  const prefixes = allow.filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1))
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

import { paths, type VirtualPath } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

import { validateEnvironment } from '../run/validate.ts'

export interface CleanEnvironmentOptions {
  readonly home: string
  /** PWD inside the view. Default: `home`. */
  readonly pwd?: string | undefined
  /** USER and LOGNAME. Default `user`. */
  readonly user?: string | undefined
  /** PATH. Default {@link defaultPath}. */
  readonly path?: string | undefined
  /** SHELL inside the view. Default: not set. */
  readonly shell?: string | undefined
  /** The directory for caches and histories of programs, inside the view. Default: HOME. */
  readonly cache?: string | undefined
  /** The caller's variables; they override all but PWD. `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Names, or prefixes with `*`, taken from `parent` besides language, terminal and time zone. */
  readonly allow?: readonly string[] | undefined
  /** Default `process.env`. */
  readonly parent?: Readonly<Record<string, string | undefined>> | undefined
}

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Variables that commands inherit by default: language, terminal and time zone. No secret lives in these. */
const defaultAllowList: readonly string[] = ['LANG', 'LANGUAGE', 'LC_*', 'TERM', 'COLORTERM', 'NO_COLOR', 'TZ']

/** A command's environment: the allowed variables of the parent [RP16], and the caller's variables. @throws WorkspaceError `EINVAL` */
export function cleanEnvironment(options: CleanEnvironmentOptions): Record<string, string> {
  const { home, pwd = home, user = 'user', path = defaultPath, shell, env = {}, parent = process.env } = options
  const isAllowed = allowance([...defaultAllowList, ...(options.allow ?? [])])
  // Names are filtered first: reading a value of `process.env` is a separate call.
  const inherited = Object.keys(parent).flatMap((name) => (isAllowed(name) ? [[name, parent[name]] as const] : []))
  const own = { HOME: home, USER: user, LOGNAME: user, PATH: path, SHELL: shell, ...cacheVariables(options.cache) }
  // A Map, since an object would treat `__proto__` as its prototype.
  const merged = new Map([...inherited, ...Object.entries(own), ...Object.entries(env), ['PWD', pwd] as const])
  const result: Record<string, string> = Object.create(null)
  for (const [name, value] of merged) if (value !== undefined) result[name] = value
  validateEnvironment(result, 'exec')
  return result
}

/** Programs obey `XDG_CACHE_HOME`, or have variables of their own. No history is kept. */
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

export interface ViewEnvironmentOptions {
  readonly root: VirtualPath
  /** PWD. Default: `root`. */
  readonly cwd?: VirtualPath | undefined
  /** The directory for caches of programs. Default: HOME. */
  readonly cache?: VirtualPath | undefined
  readonly shell?: string | undefined
  /** The caller's own variables; they override everything but PWD. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Names, or prefixes with `*`, taken from this process besides language, terminal and time zone. */
  readonly allow?: readonly string[] | undefined
  /** True leaves the workspace's own directories out of PATH. Default false. */
  readonly bare?: boolean | undefined
  /** Directories between the workspace's own and the system's. */
  readonly toolPaths?: readonly string[] | undefined
}

const systemPath = '/usr/local/bin:/usr/bin:/bin'

/** PATH of commands: the workspace's own tools (`.venv/bin`, `node_modules/.bin`) before the system's [X5]. */
export function viewPath(root: VirtualPath, toolPaths: readonly string[] = [], bare = false): string {
  const own = ['/.venv/bin', '/node_modules/.bin'].map((path) => paths.join(root, path as MountPath))
  // A colon in the root would split the root into directories. Another user may choose them.
  return [...(bare || root.includes(':') ? [] : own), ...toolPaths, systemPath].join(':')
}

/** The whole environment of a command. Of this process's variables, only those in `allow` are kept [RP16]. */
export function viewEnvironment(options: ViewEnvironmentOptions): Record<string, string> {
  const { root, cwd = root, cache, shell, env, allow, toolPaths, bare } = options
  const clean = cleanEnvironment({
    home: root,
    pwd: cwd,
    cache,
    user: 'user',
    path: viewPath(root, toolPaths, bare),
    shell,
    env,
    allow,
  })
  return { LANG: 'C.UTF-8', TERM: 'dumb', ...clean }
}

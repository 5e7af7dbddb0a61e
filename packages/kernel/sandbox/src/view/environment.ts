import { paths, type VirtualPath } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'

import { validateEnvironment } from '../run/validate.ts'

export interface CleanEnvironmentOptions {
  readonly home: string
  /** PWD in the sandbox. Default: `home`. */
  readonly pwd?: string | undefined
  /** USER and LOGNAME. Default `user`. */
  readonly user?: string | undefined
  /** PATH. Default {@link defaultPath}. */
  readonly path?: string | undefined
  /** SHELL in the sandbox. Default: not set. */
  readonly shell?: string | undefined
  /** The directory for programs' caches and histories, in the sandbox. Default: HOME. */
  readonly cache?: string | undefined
  /** The caller's variables, which override all others except PWD. `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  /** Further variables to take from `parent`, by name or by prefix with `*`, besides language, terminal and time zone. */
  readonly allow?: readonly string[] | undefined
  /** The variables of the parent process. Default `process.env`. */
  readonly parent?: Readonly<Record<string, string | undefined>> | undefined
}

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Variables that commands inherit by default: language, terminal and time zone. They contain no secrets. */
const defaultAllowList: readonly string[] = ['LANG', 'LANGUAGE', 'LC_*', 'TERM', 'COLORTERM', 'NO_COLOR', 'TZ']

/** Returns a command's environment: the allowed variables of the parent [RP16], and the caller's. @throws WorkspaceError `EINVAL` */
export function cleanEnvironment(options: CleanEnvironmentOptions): Record<string, string> {
  const { home, pwd = home, user = 'user', path = defaultPath, shell, env = {}, parent = process.env } = options
  const isAllowed = allowance([...defaultAllowList, ...(options.allow ?? [])])
  // Filters names first, because each read of a value of `process.env` is a separate call.
  const inherited = Object.keys(parent).flatMap((name) => (isAllowed(name) ? [[name, parent[name]] as const] : []))
  const own = { HOME: home, USER: user, LOGNAME: user, PATH: path, SHELL: shell, ...cacheVariables(options.cache) }
  // A Map, because an object would treat `__proto__` as its prototype.
  const merged = new Map([...inherited, ...Object.entries(own), ...Object.entries(env), ['PWD', pwd] as const])
  const result: Record<string, string> = Object.create(null)
  for (const [name, value] of merged) if (value !== undefined) result[name] = value
  validateEnvironment(result, 'exec')
  return result
}

/** Variables for caches: many programs read `XDG_CACHE_HOME`, and some have their own. Shells keep no history. */
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
  /** The directory for programs' caches. Default: HOME. */
  readonly cache?: VirtualPath | undefined
  readonly shell?: string | undefined
  /** The caller's variables, which override all others except PWD. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Further variables to take from this process, by name or by prefix with `*`, besides language, terminal and time zone. */
  readonly allow?: readonly string[] | undefined
  /** True: PATH omits the workspace's directories. Default false. */
  readonly bare?: boolean | undefined
  /** Directories in PATH between the workspace's and the system's. */
  readonly toolPaths?: readonly string[] | undefined
}

const systemPath = '/usr/local/bin:/usr/bin:/bin'

/** Returns PATH for commands: the workspace's tools (`.venv/bin`, `node_modules/.bin`) before the system's [X5]. */
export function viewPath(root: VirtualPath, toolPaths: readonly string[] = [], bare = false): string {
  const own = ['/.venv/bin', '/node_modules/.bin'].map((path) => paths.join(root, path as MountPath))
  // A colon in the root would split the root into two entries of PATH, whose content another user may control.
  return [...(bare || root.includes(':') ? [] : own), ...toolPaths, systemPath].join(':')
}

/** Returns all variables of a command. Of this process's variables, it contains only those in `allow` [RP16]. */
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

import { joinPath, type VirtualPath } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { cleanEnvironment } from './clean-environment.ts'

export interface ViewEnvironmentOptions {
  /** The workspace's root: HOME [RP9]. */
  readonly root: VirtualPath
  /** PWD. Default: `root`. */
  readonly cwd?: VirtualPath | undefined
  /** Where programs keep their caches. Default: HOME. */
  readonly cache?: VirtualPath | undefined
  /** SHELL: the shell that runs the command. */
  readonly shell?: string | undefined
  /** The caller's own variables; they win over everything but PWD. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Names (or prefixes ending in `*`) taken over from this process besides language, terminal and time zone. */
  readonly allow?: readonly string[] | undefined
  /** Leave the workspace's own directories out of PATH. Default false. */
  readonly bare?: boolean | undefined
  /** Directories put in front of the system's, after the workspace's own. */
  readonly toolPaths?: readonly string[] | undefined
}

const systemPath = '/usr/local/bin:/usr/bin:/bin'

/** PATH of commands: the workspace's own tools (`.venv/bin`, `node_modules/.bin`) before the system's [X5]. */
export function viewPath(root: VirtualPath, toolPaths: readonly string[] = [], bare = false): string {
  const own = ['/.venv/bin', '/node_modules/.bin'].map((path) => joinPath(root, path as MountPath))
  // A colon in the root would split it into directories that another user may choose.
  return [...(bare || root.includes(':') ? [] : own), ...toolPaths, systemPath].join(':')
}

/** The whole environment of a command in a view: nothing of this process's own but what `allow` names [RP16]. */
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

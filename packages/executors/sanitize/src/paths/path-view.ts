import type { VirtualPath } from '@ws/core'
import { execError, type BindPlan, type HostPath } from '@ws/core/executor'
import { Landlock } from '@ws/sandbox'

export interface ViewMount {
  readonly at: VirtualPath
  readonly host: HostPath
  readonly access: 'read-write' | 'read-only'
}

/** The meaning of a path. For a mount, `mount.host` replaces the first `drop` characters. */
export type ResolvedPath =
  | {
      readonly kind: 'mount'
      readonly mount: ViewMount
      readonly drop: number
      readonly inside: string
      readonly virtual: string
    }
  | { readonly kind: 'program' | 'device' | 'settings' }
  | { readonly kind: 'system' | 'outside' }

const programs = ['usr', 'bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']
const closed = ['dev', 'etc', 'proc', 'run', 'sys']
/** Files of `/etc` that are the same in a view, and contain no facts about this machine's users. */
const settings = new Set([
  'os-release',
  'debian_version',
  'shells',
  'services',
  'protocols',
  'mime.types',
  'localtime',
  'timezone',
])

/** Matches host paths that programs print without quotes. */
const plainName = /^[\w@%+:,./-]+$/

/** The mounts of one command, with their host directories. */
export class PathView {
  readonly root: VirtualPath
  /** Mounts, with the longest path first. */
  readonly mounts: readonly ViewMount[]
  readonly #aliases: readonly string[]

  constructor(plan: BindPlan) {
    this.root = plan.root
    this.#aliases = plan.aliases.map((alias) => alias.slice(1))
    const mounts: ViewMount[] = []
    for (const { kind, at, source, access, type } of plan.binds) {
      if (kind === 'pin' || (kind === 'subtree' && access === 'read-write')) continue
      if (
        (kind !== 'mount' && kind !== 'scratch') ||
        source === undefined ||
        access === 'none' ||
        type !== 'directory'
      ) {
        throw execError('EUNENFORCEABLE', 'is under a rule that this executor cannot hold', { path: at })
      }
      if (!plainName.test(source)) {
        throw execError(
          'EUNENFORCEABLE',
          'lies in a directory of this machine whose name programs print in other ways, so it could not be taken out of the output',
          {
            path: at,
            remedy:
              'give it a directory whose path holds only letters, digits and @%+:,./_-, or use an executor with a view (bubblewrap, proot)',
          },
        )
      }
      mounts.push({ at, host: source, access })
    }
    this.mounts = mounts.toSorted((left, right) => right.at.length - left.at.length)
  }

  /** Returns the mount of a normalised workspace path. */
  mountOf(path: string): ViewMount | undefined {
    return this.mounts.find(({ at }) => isBelow(path, at))
  }

  hostOf(path: string): string | undefined {
    const place = this.resolve(path)
    return place.kind === 'mount' ? place.mount.host + path.slice(place.drop) : undefined
  }

  /** Returns the mounts below a path, without the path itself. Omits the scratch, which listings do not show. */
  mountsBelow(path: string): readonly ViewMount[] {
    return this.mounts.filter(({ at }) => at !== path && at !== '/tmp' && isBelow(at, path))
  }

  /** Returns the meaning of an absolute path as written. The caller has checked `..` names. */
  resolve(path: string): ResolvedPath {
    const [first = '', second = ''] = namesOf(path)
    if (this.#aliases.includes(first) && !this.mounts.some(({ at }) => at === `/${first}`)) {
      const end = endOfName(path, first)
      const rest = path.slice(end)
      const inner = this.resolve(rest.startsWith('/') ? rest : `/${rest}`)
      return inner.kind === 'mount' ? { ...inner, drop: inner.drop + end } : inner
    }
    const virtual = `/${namesOf(path).join('/')}`
    const mount = this.mountOf(virtual)
    const isSystem = programs.includes(first) || closed.includes(first)
    if (mount !== undefined && !(mount.at === '/' && isSystem)) {
      return {
        kind: 'mount',
        mount,
        drop: dropLength(path, mount.at),
        inside: virtual.slice(mount.at === '/' ? 0 : mount.at.length),
        virtual,
      }
    }
    if (programs.includes(first)) return { kind: 'program' }
    const rest = namesOf(path).slice(1).join('/')
    if (first === 'dev' && Object.hasOwn(Landlock.sharedDevices, rest)) return { kind: 'device' }
    if (first === 'etc' && settings.has(second) && rest === second) return { kind: 'settings' }
    return { kind: isSystem ? 'system' : 'outside' }
  }
}

export function isBelow(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`)
}

export function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

/** Returns the number of characters of `path` that belong to the mount's path. The rest starts with `/` or is empty. */
function dropLength(path: string, at: string): number {
  let end = 0
  for (const name of namesOf(at)) end = endOfName(path, name, end)
  return end
}

/** Returns the end of the next whole name after `from`. Skips `.` and repeated slashes. */
function endOfName(path: string, name: string, from = 0): number {
  for (let at = path.indexOf(name, from); at >= 0; at = path.indexOf(name, at + 1)) {
    const after = path[at + name.length]
    if (path[at - 1] === '/' && (after === undefined || after === '/')) return at + name.length
  }
  return path.length
}

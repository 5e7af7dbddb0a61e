import { paths, type VirtualPath } from '@ws/core'
import { type Bind, type BindPlan, execError } from '@ws/core/executor'

/** The lists of the library, as real paths. Every path is literal: no character is a pattern. */
export interface Lists {
  readonly denyRead: readonly string[]
  readonly allowRead: readonly string[]
  readonly allowWrite: readonly string[]
  readonly denyWrite: readonly string[]
  /** Writable parts of read-only mounts, which are in `allowWrite` too. */
  readonly reopened: readonly string[]
}

export interface ListOptions {
  /** The system's programs and public files, and tools. */
  readonly readable: readonly string[]
  /** Directories and files at `/` that commands may not read; on macOS `/` itself. */
  readonly unreadable: readonly string[]
  readonly unwritable: readonly string[]
  /** The directory for temporary files, if the workspace has none. */
  readonly temporary: string
}

/**
 * Converts a plan to lists. The library shows directories at their own paths. An inner entry is stricter than its surroundings.
 * @throws WorkspaceError `EUNENFORCEABLE` for a plan that needs more
 */
export function listsOf(plan: BindPlan, { readable, unreadable, unwritable, temporary }: ListOptions): Lists {
  const denyRead = [...unreadable]
  const allowRead = [...readable]
  const allowWrite: string[] = []
  const denyWrite = [...unwritable]
  const reopened: string[] = []
  const [alias] = plan.aliases
  if (alias !== undefined) throw refused(alias, 'is an alias, which is another path than its own', ownPath)
  for (const bind of plan.binds) {
    const { kind, source, access } = bind
    if (kind === 'scratch') continue
    const at = placeOf(bind, plan)
    if (source !== undefined && String(source) !== at)
      throw refused(bind.at, 'is shown at another path than its own', ownPath, bind)
    if (kind === 'closed') throw refused(bind.at, 'is denied and holds an entry that is allowed', outside, bind)
    const isReopened = kind === 'subtree' && access === 'read-write'
    if (kind !== 'mount') refuseWider(bind, plan, isReopened)
    if (access === 'none') {
      denyRead.push(at)
      denyWrite.push(at)
    } else if (kind === 'mount') {
      allowRead.push(at)
      if (access === 'read-write') allowWrite.push(at)
    } else if (isReopened) {
      allowWrite.push(at)
      reopened.push(at)
    } else if (access === 'read-only' || (kind === 'pin' && bind.type === 'file')) {
      denyWrite.push(at) // the library can hold the name of a pinned file only together with its content
    }
  }
  const temporaryPath = temporaryOf(plan, temporary)
  return {
    denyRead,
    allowRead: [...allowRead, temporaryPath],
    allowWrite: [...allowWrite, temporaryPath],
    denyWrite,
    reopened,
  }
}

/** Returns the path at which commands see a bind: its own, or in the directory of the workspace's `/tmp`. */
function placeOf({ at }: Bind, { binds }: BindPlan): string {
  const around = binds.findLast(({ at: path, kind }) => isOpen(kind) && paths.isWithin(at, path))
  if (around?.kind !== 'scratch' || around.source === undefined) return at
  return around.source + at.slice(around.at.length)
}

const isOpen = (kind: Bind['kind']) => kind === 'mount' || kind === 'scratch'

/** Returns the host path of the commands' temporary directory. */
export function temporaryOf(plan: BindPlan, own: string): string {
  return plan.binds.find(({ kind }) => kind === 'scratch')?.source ?? own
}

const ownPath = "mount each directory at its own real path, as in `at: '/Users/me/project'`, or use a container"
const outside = 'keep allowed entries beside the stricter directory, or use bubblewrap or a container'

const strictness = { 'read-write': 0, 'read-only': 1, none: 2 } as const

/**
 * Refuses an entry with more rights than its surroundings: the library's strictest rule wins for everything below it. One case can be held:
 * a writable part of a read-only mount, with nothing stricter inside.
 */
function refuseWider(bind: Bind, { binds }: BindPlan, isReopened: boolean): void {
  const isAround = (one: Bind, inner: Bind) =>
    one.kind !== 'pin' && one.at !== inner.at && paths.isWithin(inner.at, one.at)
  const around = binds.findLast((one) => isAround(one, bind))
  if (around === undefined || strictness[bind.access] >= strictness[around.access]) return
  const isPlain = around.kind === 'mount' && !binds.some((one) => isAround(bind, one))
  if (isReopened && isPlain) return
  throw refused(bind.at, `has more rights than \`${around.at}\` around it`, outside, bind)
}

function refused(path: VirtualPath, reason: string, remedy: string, bind?: Bind): Error {
  const reasonHere = `${reason}, which sandbox-runtime cannot hold`
  return execError('EUNENFORCEABLE', reasonHere, { path, remedy, rule: bind?.rules[0] })
}

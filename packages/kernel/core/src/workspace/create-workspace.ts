import type { StorageAdapter } from '../contract/adapter.ts'
import type { HostDirectory } from '../contract/file-types.ts'
import { scratchName, systemNames } from '../mount/reserved.ts'
import { childPath, isWithin, parseVirtualPath, rootPath, topName } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { Namespace } from '../policy/namespace.ts'
import { readPolicy } from '../policy/read-policy.ts'
import { Audit, Clock } from '../calls/audit.ts'
import { attachCheckpoints, takeBackLeft } from '../checkpoints/attach.ts'
import type { CheckpointParts } from '../checkpoints/door.ts'
import type { ForkSide } from '../checkpoints/fork.ts'
import { chooseExecutor } from '../commands/choose-executor.ts'
import { copyCommandDefaults } from '../commands/command-options.ts'
import type { Context } from '../calls/context.ts'
import { virtualError } from '../mount/errors.ts'
import { Gate } from '../mount/gate.ts'
import { readHostDirectories, refuseNestedRoots, refuseWithin } from '../mount/host-roots.ts'
import { copyLabels } from './labels.ts'
import { createMountPoints, takenNames, holdsMount } from '../mount/mount-points.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { Scratch } from '../mount/scratch.ts'
import { joinWriters } from '../mount/writers.ts'
import type { MountOptions, Workspace, WorkspaceOptions } from '../contract/workspace.ts'
import { checkWorkspaceOptions } from './workspace-options.ts'
import { LinkTracer } from '../mount/trace-links.ts'
import { Walker } from '../mount/walk.ts'
import { LiveWorkspace } from './workspace.ts'

const operation = 'createWorkspace'
const scratchPath = `/${scratchName}` as VirtualPath
const defaultAlias = '/workspace' as VirtualPath

/**
 * Makes a workspace, after checking its mounts, rules and executors. On an error, closes the adapters that factories made.
 * @throws WorkspaceError `EINVAL`; `ENOWORKSPACE`: a mount's root is missing; `ENOEXECUTOR` with the reasons
 */
export async function createWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  checkWorkspaceOptions(options)
  options.signal?.throwIfAborted()
  const mounts: WorkspaceMount[] = []
  const scratch = new Scratch()
  try {
    for (const mount of options.mounts) mounts.push(await openMount(mount, mounts))
    return await assemble(options, mounts, scratch)
  } catch (error) {
    await scratch.close().catch(() => undefined) // the first error is thrown after all adapters are closed
    for (const { adapter, owned } of mounts) if (owned) await adapter?.close().catch(() => undefined)
    throw error
  }
}

async function assemble(
  options: WorkspaceOptions,
  mounts: readonly WorkspaceMount[],
  scratch: Scratch,
): Promise<LiveWorkspace> {
  const first = mounts[0]
  if (first === undefined)
    throw invalid('a workspace needs at least one mount', 'pass `mounts: [{ at: "/", adapter }]`')
  const root = first.at
  const makeScratch = first.adapter?.createScratch?.bind(first.adapter)
  const mayHaveScratch = makeScratch !== undefined && !mounts.some(({ at }) => at === scratchPath)
  const mayBeAlias = root === rootPath && !mounts.some(({ at }) => isWithin(at, defaultAlias))
  const named = readAliases(options.aliases ?? (mayBeAlias ? { [defaultAlias]: '/' } : {}), mounts)
  const taken = await takenNames(mounts, [...(mayHaveScratch ? [scratchName] : []), ...named])
  const withScratch = mayHaveScratch && isFree(scratchName, taken, options.scratch)
  const aliases = new Set([...named].filter((name) => isFree(name, taken, options.aliases && true)))

  const all = withScratch ? [...mounts, scratch.mount(scratchPath)] : [...mounts]
  const exempt = withScratch ? scratchPath : undefined
  const scope = {
    root,
    aliases,
    mounts: all.map(({ at }) => at),
    missingScratch: withScratch ? undefined : scratchPath,
  }
  const { policy, declared } = readPolicy(options, { exempt, scope })
  const reserved = [...aliases].map((name) => childPath(rootPath, name))
  const namespace = new Namespace({ mounts: all, rules: declared.subtrees, scratch: exempt, reserved })
  const gate = new Gate({ namespace, policy, declared, root })
  const hostDirectories = await readHostDirectories(mounts)
  refuseNestedRoots(hostDirectories)

  const open = (mount: WorkspaceMount): StorageAdapter | Promise<StorageAdapter> =>
    mount.adapter ?? scratch.open(mount, makeScratch)
  const walker = new Walker(gate, aliases, open)
  const context: Context = {
    root,
    aliases,
    mounts: all,
    gate,
    walker,
    tracer: new LinkTracer({ mounts: all, reserved, root, aliases, open }),
    audit: new Audit({ labels: copyLabels(options.labels) }),
    clock: new Clock(options),
    commands: copyCommandDefaults(options.commands, { gate, scratch: exempt, base: root, aliases }),
    open,
    state: { isClosed: false, calls: { begun: 0, open: new Set() }, starting: new Set(), watches: new Set() },
  }
  const writers = joinWriters(mounts, hostDirectories, () => context.state.attempt !== undefined)
  let checkpoints: CheckpointParts | undefined
  try {
    for (const mount of all) if (mount.adapter === undefined && holdsMount(mount, mounts)) await open(mount)
    await createMountPoints(all, operation)
    checkpoints = await attachCheckpoints(options.checkpoints, mounts, hostDirectories)
    const again: ForkSide<LiveWorkspace>['again'] = async (copies, engine, { signal }) => {
      const own = new Scratch()
      const { executor } = workspace.chosen ?? {}
      const names = { aliases: Object.fromEntries([...aliases].map((name) => [`/${name}`, '/'])), scratch: withScratch }
      const same = { ...options, ...names, executors: executor && [executor], checkpoints: engine, signal }
      try {
        refuseWithin(hostDirectories, await readHostDirectories(copies.filter(({ owned }) => owned)))
        return await assemble(same, copies, own)
      } catch (error) {
        await own.close().catch(() => undefined) // `error` says more
        throw error
      }
    }
    const workspace = new LiveWorkspace({ context, scratch, checkpoints, writers, again })
    if (checkpoints?.attached.held !== undefined)
      workspace.droppedTry = await takeBackLeft(context, checkpoints, checkpoints.attached.held)
    await useExecutor(workspace, context, options, hostDirectories)
    return workspace
  } catch (error) {
    writers.leave()
    await checkpoints?.attached.close()
    throw error
  }
}

async function useExecutor(
  workspace: LiveWorkspace,
  context: Context,
  options: WorkspaceOptions,
  hostDirectories: ReadonlyMap<VirtualPath, HostDirectory>,
): Promise<void> {
  const { root } = context
  if (options.executors !== undefined && options.executors.length > 0) {
    const topEntries = async (names: readonly string[]): Promise<readonly string[]> => {
      const taken = await takenNames(context.mounts, names)
      return names.filter((name) => taken.includes(name) || context.mounts.some(({ at }) => topName(at) === name))
    }
    const view = { root, owner: hostDirectories.get(root)?.owner, files: workspace.ofCommands(), topEntries }
    const chosen = await chooseExecutor({
      context,
      executors: options.executors,
      require: options.require,
      view,
      hostDirectories,
      signal: options.signal,
    })
    context.gate.reserve(chosen.needs)
    workspace.use(chosen)
  } else if (options.require !== undefined) {
    throw virtualError({
      code: 'ENOEXECUTOR',
      operation,
      reason: '`require` is set, and there are no executors',
      remedy: 'pass `executors`, or drop `require`',
    })
  }
}

async function openMount(options: MountOptions, before: readonly WorkspaceMount[]): Promise<WorkspaceMount> {
  if (!options.at.startsWith('/')) {
    throw virtualError({
      code: 'EINVAL',
      operation,
      path: options.at,
      reason: 'is not an absolute path',
      remedy: 'mount at a path such as `/` or `/workspace`',
    })
  }
  const at = parseVirtualPath(options.at, { operation })
  if (before.some((mount) => mount.at === at)) {
    throw virtualError({
      code: 'EINVAL',
      operation,
      path: at,
      reason: 'is mounted twice',
      remedy: 'give each mount its own path',
    })
  }
  const { access } = options
  const owned = typeof options.adapter === 'function'
  const adapter = typeof options.adapter === 'function' ? await options.adapter() : options.adapter
  if (typeof adapter !== 'object' || adapter === null || typeof adapter.stat !== 'function') {
    throw virtualError({
      code: 'EINVAL',
      operation,
      path: at,
      reason: 'has no adapter',
      remedy:
        'pass a function that makes one, such as `() => createLocalAdapter({ root })`, or an adapter that you close',
    })
  }
  return {
    at,
    adapter,
    access: adapter.capabilities.readOnly ? 'read-only' : (access ?? 'read-write'),
    caseSensitive: adapter.capabilities.caseSensitive,
    owned,
    scratch: false,
  }
}

/** Returns whether the workspace may take a name at `/`. @throws WorkspaceError `EBUSY` if the name is `asked` for but taken */
function isFree(name: string, taken: readonly string[], asked: boolean | undefined): boolean {
  if (asked === false) return false
  if (!taken.includes(name)) return true
  if (asked !== true) return false
  throw virtualError({
    code: 'EBUSY',
    operation,
    path: childPath(rootPath, name),
    reason: 'is an entry of the mount at `/`, which the scratch or an alias of that name would hide',
    remedy: 'mount at `/workspace`, or leave the option out',
  })
}

function readAliases(aliases: Readonly<Record<string, string>>, mounts: readonly WorkspaceMount[]): Set<string> {
  const names = new Set<string>()
  for (const [from, to] of Object.entries(aliases)) {
    const path = parseVirtualPath(from, { operation })
    const name = path.slice(1)
    const wrong =
      to !== '/' ||
      name === '' ||
      name.includes('/') ||
      name === scratchName ||
      (systemNames as readonly string[]).includes(name)
    if (wrong || mounts.some(({ at }) => isWithin(at, path))) {
      throw virtualError({
        code: 'EINVAL',
        operation,
        path,
        reason: 'cannot be an alias',
        remedy: 'an alias is one free top-level name that stands for `/`: `{ "/workspace": "/" }`',
      })
    }
    names.add(name)
  }
  return names
}

function invalid(reason: string, remedy: string): Error {
  return virtualError({ code: 'EINVAL', operation, reason, remedy })
}

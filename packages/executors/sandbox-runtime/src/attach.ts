import { chownSync, lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { type BindPlan, type CommandRequest, execError } from '@ws/core/executor'
import {
  type CommandDriver,
  commandLine,
  type ConfinedTarget,
  Descriptors,
  type DescriptorSource,
  isSystemProgram,
  Reserve,
  resolveShell,
  Temporary,
  Tools,
  viewEnvironment,
} from '@ws/sandbox'

import { coverArguments, launcher } from './covers.ts'
import { listsOf, temporaryOf } from './lists.ts'
import type { ResolvedOptions } from './options.ts'
import { descriptors, prelude, preludeScript } from './prelude.ts'
import { explainFailure, startWrapped, type WrappedCommand } from './start.ts'
import { systemLists } from './system.ts'
import { startWrapper, type Wrapper } from './wrapper.ts'

export const prefix = 'ws-sandbox-runtime-'

export interface Machine {
  readonly platform: NodeJS.Platform
}

/** Starts the library, and makes the directories that the commands of one workspace share. */
export async function attachSandboxRuntime(
  { root, owner }: ConfinedTarget,
  { platform }: Machine,
  { env: allow, tools }: ResolvedOptions,
): Promise<CommandDriver> {
  Tools.checkToolAccess(tools, owner, 'attach')
  const directory = Temporary.createRuntimeDirectory(prefix)
  const temporary = join(directory, 'tmp')
  const applyPath = join(directory, 'apply-seccomp')
  let wrapper: Wrapper
  try {
    wrapper = await makeParts()
  } catch (error) {
    Temporary.removeRuntimeDirectory(directory)
    throw error
  }
  const isLinux = platform === 'linux'
  const system = systemLists({ platform, root, owner })
  const readable = [...system.readable, ...tools.map(({ host }) => host), ...(isLinux ? [applyPath] : [])]
  const outside = { ...system, readable, temporary }
  let pipes: Descriptors.PipeMaker | undefined
  let keeper: Reserve.NameKeeper | undefined

  async function makeParts(): Promise<Wrapper> {
    const empty = join(directory, 'empty')
    const bwrapPath = join(directory, 'bwrap')
    mkdirSync(empty)
    mkdirSync(temporary, { mode: 0o700 })
    if (process.getuid?.() === 0) chownSync(temporary, owner.uid, owner.gid)
    writeFileSync(bwrapPath, launcher, { mode: 0o755 })
    return await startWrapper({ platform, directory: empty, bwrapPath, applyPath })
  }

  async function prepare(plan: BindPlan, request: CommandRequest): Promise<WrappedCommand> {
    const lists = listsOf(plan, outside)
    await Tools.checkToolPlaces(tools, plan, 'exec')
    const before = identities(plan)
    const reserved = isLinux ? await reserveMissing(plan) : undefined
    let released: Promise<void> | undefined
    const release = () => (released ??= reserved?.release() ?? Promise.resolve())
    try {
      const argv = await wrapper.wrap({ command: prelude, lists, uid: owner.uid })
      const releaseAll = () => {
        if (released === undefined) wrapper.ended()
        return release()
      }
      try {
        if (identities(plan) !== before) throw moved(plan.root)
        return { ...(await compose(plan, request, argv)), release: releaseAll }
      } catch (error) {
        await releaseAll()
        throw error
      }
    } catch (error) {
      await release()
      throw error
    }

    async function compose(plan: BindPlan, request: CommandRequest, argv: readonly string[]): Promise<WrappedCommand> {
      const { cwd, bare } = request
      const shell = resolveShell({
        shell: request.shell,
        existsInView: (path) => isSystemProgram(path) || tools.some(({ at }) => path.startsWith(`${at}/`)),
      })
      const inView = viewEnvironment({
        root: plan.root,
        cwd,
        cache: cacheOf(request, plan),
        shell,
        env: { TMPDIR: temporaryOf(plan, temporary), ...request.env },
        allow,
        toolPaths: [...Tools.toolPaths(tools), ...system.paths],
        bare,
      })
      const line = commandLine(request, { shell, env: inView })
      // On macOS, programs can open Node's sockets by name.
      if (isLinux) pipes ??= Descriptors.usePipes()
      const count = request.stdin === undefined ? 2 : 3
      const [stdoutPipe, errors, stdinPipe] = await Descriptors.takePipes(pipes, count, owner)
      return Descriptors.withPipes([stdoutPipe, errors, stdinPipe], () => {
        request.signal?.throwIfAborted()
        const extraFds = new Map<number, DescriptorSource>([
          [descriptors.mark, 'pipe'],
          [descriptors.script, Buffer.from(preludeScript(line, cwd, errors !== undefined))],
        ])
        const long = line.extraFds.get(9)
        if (long !== undefined) extraFds.set(descriptors.long, long)
        if (errors !== undefined) extraFds.set(descriptors.errors, errors)
        if (isLinux) extraFds.set(descriptors.covers, coverArguments(lists, outside.unreadable))
        const streams = {
          stdoutPipe,
          stdinPipe,
          ...(errors !== undefined && { maxOutputBytes: 4096, onStderr: undefined }),
        }
        return { owner, platform, process: { argv, env: { PATH: '/usr/bin:/bin' }, extraFds, ...streams } }
      })
    }
  }

  async function reserveMissing({ binds }: BindPlan): Promise<Reserve.Reservation | undefined> {
    const wanted = binds.flatMap(({ missing, at, rules }) =>
      missing === undefined ? [] : [{ name: missing, at, rule: rules[0] }],
    )
    return wanted.length === 0 ? undefined : await (keeper ??= Reserve.useNameKeeper()).reserve(wanted, owner)
  }

  return {
    facts: {
      // Seatbelt holds a path whether it exists or not.
      refuseMissing: isLinux ? Reserve.reservationProblem : () => undefined,
    },
    prepare,
    start: (prepared, run) => startWrapped(prepared as WrappedCommand, run),
    explainFailure,
    async close() {
      pipes?.close()
      keeper?.close()
      pipes = keeper = undefined
      await wrapper.close()
      Temporary.removeRuntimeDirectory(directory)
    },
  }
}

/** Returns the directory for caches. A directory in the workspace's `/tmp` has another path for commands. */
function cacheOf({ cache }: CommandRequest, { binds }: BindPlan): CommandRequest['cache'] {
  const scratch = binds.find(({ kind }) => kind === 'scratch')
  if (cache === undefined || scratch?.source === undefined || !cache.startsWith(`${scratch.at}/`)) return cache
  return (scratch.source + cache.slice(scratch.at.length)) as CommandRequest['cache']
}

/** Returns the identity of every source, which the library finds by name. @throws WorkspaceError `EBUSY` for a link */
function identities({ binds }: BindPlan): string {
  const known = binds.map(({ at, source, kind, missing }) => {
    if (source === undefined || kind === 'pin' || missing !== undefined) return ''
    const { dev, ino } = lstatSync(source, { bigint: true, throwIfNoEntry: false }) ?? {}
    if (dev === undefined || realpathSync.native(source) !== source) throw moved(at)
    return `${dev}:${ino}`
  })
  return known.join(' ')
}

function moved(path: BindPlan['root']): Error {
  return execError('EBUSY', 'has changed or leads through a link, so it cannot be shown to a command safely', {
    path,
    remedy: 'run the command again when nothing changes it, and mount real paths without links',
  })
}

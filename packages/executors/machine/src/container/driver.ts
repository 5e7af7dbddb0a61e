import type { WorkspaceError } from '@ws/core'
import { type BindPlan, type CommandRequest, execError, type HostPath, protectionLost } from '@ws/core/executor'
import { commandLimits } from '@ws/core/executor'
import {
  type CommandDriver,
  type CommandEnd,
  commandLine,
  type CommandPort,
  type CommandRun,
  type ConfinedTarget,
  HostPaths,
  type KnownEnd,
  type PreparedCommand,
  Reserve,
  resolveShell,
  sandboxProgram,
  viewEnvironment,
} from '@ws/sandbox'

import type { AttendantOrder } from '../attendant/client.ts'
import { orAborted } from '../or-aborted.ts'
import { Container } from './container.ts'
import type { Engine } from './engine/client.ts'
import { containerFiles } from './files.ts'
import { checkScratchLimit, heldLimits, needsOwnContainer, processLimits } from './limits.ts'
import { loopbackOf } from './loopback/loopback.ts'
import type { ResolvedOptions } from './options.ts'
import { type Lease, Pool } from './pool.ts'
import { layOut, type Placement } from './tree/layout.ts'
import { exchanged } from './tree/verify.ts'

/** The findings of a probe. */
export interface FoundEngine {
  readonly engine: Engine
  /** The identity of the image: its name can come to mean another one. */
  readonly image: string
  /** Shells of the image that can be run. */
  readonly shells: readonly string[]
  /** Commands see the workspace, and a root that is read-only. */
  readonly isBound: boolean
  /** Commands have no capability, get no new rights, and are filtered. */
  readonly isWithoutRights: boolean
  readonly isWithoutNetwork: boolean
  /** The first process that commands see is the attendant. */
  readonly isAlone: boolean
}

interface Prepared extends PreparedCommand {
  readonly lease: Lease
  readonly order: Omit<AttendantOrder, 'hasInput' | 'terminal'>
}

interface ContainerEnd extends CommandEnd {
  readonly exposure?: Placement | undefined
}

export function attachContainer(target: ConfinedTarget, found: FoundEngine, options: ResolvedOptions): CommandDriver {
  const { owner } = target
  const pool = new Pool()
  const files = containerFiles(target)
  let keeper: Reserve.NameKeeper | undefined

  async function reserve(plan: BindPlan): Promise<Reserve.Reservation | undefined> {
    const names = plan.binds.flatMap(({ missing, at, rules }) =>
      missing === undefined ? [] : [{ name: missing, at, rule: rules[0] }],
    )
    return names.length === 0 ? undefined : await (keeper ??= Reserve.useNameKeeper()).reserve(names, owner)
  }

  async function prepare(plan: BindPlan, request: CommandRequest): Promise<Prepared> {
    const { cwd, cache, bare = false, env } = request
    const isExecutable = (path: string) => found.shells.includes(path)
    const shell = resolveShell({ shell: request.shell, env: {}, isExecutable })
    const whole = viewEnvironment({ root: plan.root, cwd, cache, shell, env, allow: options.env, bare })
    const line = commandLine(request, { shell, env: whole })
    const limits = commandLimits.narrow(options.limits, request.limits)
    const placements = layOut(plan, files.covers)
    checkScratchLimit(limits, placements)
    request.signal?.throwIfAborted()
    const held = await reserve(plan)
    let sources: readonly HostPaths.BindSource[] = []
    let taking: Promise<Lease> | undefined
    try {
      const wanted = wantedSources(placements)
      sources = await HostPaths.openBindSources([...wanted.values()])
      const identities = new Map([...wanted.keys()].map((path, index) => [path, sources[index]?.identity]))
      for (const placement of placements) {
        const { beneath } = placement
        const reserved = beneath && held?.identities.get(beneath)
        if (beneath !== undefined && reserved !== undefined && reserved !== identities.get(beneath))
          throw exchanged(placement)
      }
      const { memoryBytes, processes } = limits
      const scratchBytes = limits.scratchBytes ?? options.scratchBytes
      const shown = placements.map(({ at, show, type, readOnly, source, beneath }) => {
        const known = [source, beneath].map((path) => path && identities.get(path))
        return [at, show, type, readOnly, source, ...known]
      })
      const key = JSON.stringify([shown, bare, memoryBytes, processes, scratchBytes])
      const start = async () => {
        const reserved = await reserve(plan)
        try {
          const { image, engine } = found
          const plan_ = { image, owner, placements, etc: files.etc, limits, scratchBytes }
          return await Container.start(engine, plan_, { identities: (path) => identities.get(path), reserved })
        } catch (error) {
          await reserved?.release()
          throw error
        }
      }
      taking = pool.take(key, start, { isAlone: needsOwnContainer(limits), isBrief: held !== undefined })
      const lease = await orAborted(taking, request.signal)
      const content = line.extraFds.get(9)
      return {
        lease,
        order: {
          ...{ argv: line.argv, env: line.env, cwd, clearEnv: true, limits: processLimits(limits) },
          filter: filterFor(plan),
          ...(content instanceof Uint8Array && { content: { descriptor: 9, bytes: content } }),
        },
        async release() {
          lease.release()
          await held?.release()
        },
      }
    } catch (error) {
      taking?.then((late) => late.release()).catch(() => undefined) // `error` says why
      await held?.release()
      throw error
    } finally {
      const close = () => sources.forEach((source) => source.close())
      // a container that comes too late for an aborted command is compared all the same
      if (taking === undefined) close()
      else void taking.then(close, close)
    }
  }

  async function start({ lease, order }: Prepared, run: CommandRun): Promise<CommandPort> {
    const { container } = lease
    const { request, hasInput, terminal } = run
    request.signal?.throwIfAborted()
    if (container.isLost) throw lostBefore()
    const command = container.attendant.start({ ...order, hasInput, terminal }, run)
    const onAbort = () => command.end()
    request.signal?.addEventListener('abort', onAbort, { once: true })
    try {
      await command.begun
    } finally {
      request.signal?.removeEventListener('abort', onAbort)
    }
    const exited = command.exited.then((end): ContainerEnd => {
      const [exposure, ...more] = container.exposed
      if (exposure === undefined) return end
      // the error of a lost command names the first one itself
      const violations = (end.lost === true ? more : [exposure, ...more]).flatMap(({ rule, virtual }) =>
        rule === undefined ? [] : [{ rule, path: virtual, kind: 'exposed' as const }],
      )
      return { ...end, violations, exposure }
    })
    return {
      stdin: command.stdin,
      signal: (name, whom) => command.signal(name, whom),
      resize: (columns, rows) => command.resize?.(columns, rows) === true,
      end: () => command.end(),
      exited,
      gone: command.gone,
    }
  }

  return {
    facts: { limits: heldLimits, refuseMissing: Reserve.reservationProblem, loopback: loopbackOf(pool) },
    hasTerminals: 'own',
    prepare,
    start: (prepared, run) => start(prepared as Prepared, run),
    explainFailure,
    async close() {
      await pool.close()
      keeper?.close()
      keeper = undefined
    },
  }
}

/** The filter that commands in bubblewrap have: engines allow more, such as sockets of virtual machines and setuid bits. */
function filterFor(plan: BindPlan): Uint8Array {
  return sandboxProgram({
    interprocess: true,
    unixSockets: true,
    extendedAttributes: HostPaths.offersExtendedAttributes(plan),
  })
}

/** The sources of mounts, and the entries below them: each exists, and leads through no link. */
function wantedSources(placements: readonly Placement[]): Map<HostPath, HostPaths.WantedSource> {
  const wanted = new Map<HostPath, HostPaths.WantedSource>()
  for (const { beneath, source, type, virtual } of placements)
    for (const path of [beneath, source]) if (path !== undefined) wanted.set(path, { path, type, at: virtual })
  return wanted
}

function lostBefore(): WorkspaceError {
  return execError('EBUSY', 'the container ended before the command started', { remedy: 'run the command again' })
}

function explainFailure(end: ContainerEnd, { result, sent }: KnownEnd): WorkspaceError | undefined {
  const { exposure } = end
  if (exposure !== undefined) return protectionLost(result, { path: exposure.virtual, rule: exposure.rule })
  if (sent.size > 0) return undefined
  return execError('EIO', 'the container ended while the command ran; its changes so far stay', {
    remedy: 'look at what it left, then run it again; the engine or this machine may be short of memory',
  })
}

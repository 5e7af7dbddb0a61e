import type { CommandLimits } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { execError, type HostPath } from '@ws/core/executor'
import type { Reserve } from '@ws/sandbox'

import { Attendant } from '../attendant/client.ts'
import { attendantArguments } from '../attendant/script.ts'
import { type Engine, EngineError } from './engine/client.ts'
import { engineError } from './engine/failure.ts'
import { containerStream } from './engine/streams.ts'
import { ownLabels } from './leftovers.ts'
import type { Placement } from './tree/layout.ts'
import {
  checkPlaces,
  type Covers,
  lookScript,
  type Look,
  lostCovers,
  parseLook,
  placesOf,
  verifyTree,
} from './tree/verify.ts'

export interface ContainerPlan {
  readonly image: string
  readonly owner: Owner
  readonly placements: readonly Placement[]
  /** Files of this machine that commands see in `/etc`, by their path there. */
  readonly etc: Readonly<Record<string, string>>
  readonly limits: CommandLimits
  readonly scratchBytes: number
}

/** Processes of commands in one container, and those of the attendant beside them. */
const mostProcesses = 4096
const ownProcesses = 2
/** Milliseconds for a container to answer. */
const patience = 20_000

/** A running container, whose first process is an attendant. */
export class Container {
  readonly attendant: Attendant
  readonly look: Look
  readonly #engine: Engine
  readonly #id: string
  readonly #covers: Covers
  /** Parts that lost their cover. */
  readonly exposed = new Set<Placement>()
  /** Names that stay reserved as long as the container shows them. */
  readonly #reserved: Reserve.Reservation | undefined
  #removed: Promise<void> | undefined

  private constructor(parts: {
    readonly engine: Engine
    readonly id: string
    readonly attendant: Attendant
    readonly look: Look
    readonly covers: Covers
    readonly reserved: Reserve.Reservation | undefined
  }) {
    this.attendant = parts.attendant
    this.look = parts.look
    this.#engine = parts.engine
    this.#id = parts.id
    this.#covers = parts.covers
    this.#reserved = parts.reserved
    void this.attendant.lost.then(() => this.close())
  }

  /**
   * Builds a container, and compares its tree with the plan before a command can run.
   * @throws WorkspaceError `EBUSY` if a part changed meanwhile; `EIO`, `ENOEXECUTOR`, `EUNENFORCEABLE`
   */
  static async start(
    engine: Engine,
    plan: ContainerPlan,
    {
      identities,
      reserved,
    }: {
      readonly identities: (source: HostPath) => string | undefined
      readonly reserved: Reserve.Reservation | undefined
    },
  ): Promise<Container> {
    const before = placesOf(plan.placements)
    let id: string | undefined
    let attendant: Attendant | undefined
    try {
      const made = await engine.call<{ readonly Id: string }>('POST', '/containers/create', configuration(plan))
      id = made.Id
      const stream = containerStream(await engine.attach(`/containers/${id}/attach?stream=1&stdin=1&stdout=1`))
      // every process of a container ends with its first one
      attendant = new Attendant(stream, { survivors: async () => false })
      await engine.call('POST', `/containers/${id}/start`)
      await greeted(attendant)
      const look = await lookInside(attendant, plan.placements)
      const covers = verifyTree(plan.placements, look, identities)
      checkPlaces(plan.placements, before)
      const container = new Container({ engine, id, attendant, look, covers, reserved })
      attendant.onMounts = (table) => container.#compare(table)
      return container
    } catch (error) {
      attendant?.close()
      if (id !== undefined) await remove(engine, id)
      checkPlaces(plan.placements, before)
      throw engineError(error)
    }
  }

  get isLost(): boolean {
    return this.attendant.isLost || this.exposed.size > 0
  }

  /** Ends everything inside, and removes the container. Never rejects: a later start removes what is left. */
  close(): Promise<void> {
    this.attendant.close()
    this.#removed ??= remove(this.#engine, this.#id).then(() => this.#reserved?.release().catch(() => undefined)) // the next reservation tries again
    return this.#removed
  }

  /** Nothing can put a lost cover back from here, so everything inside ends. */
  #compare(table: string): void {
    for (const placement of lostCovers(this.#covers, table)) this.exposed.add(placement)
    if (this.exposed.size > 0) this.attendant.close()
  }
}

async function greeted(attendant: Attendant): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(noAnswer()), patience)
  try {
    await Promise.race([attendant.greeted, late.promise])
  } catch {
    throw noAnswer()
  } finally {
    clearTimeout(timer)
  }
}

function noAnswer(): Error {
  return execError('ENOEXECUTOR', 'the container ended before it could take commands', {
    remedy: 'use an image with perl 5.14 or later for x64 or arm64, such as `debian:stable-slim`',
  })
}

async function lookInside(attendant: Attendant, placements: readonly Placement[]): Promise<Look> {
  const chunks: Buffer[] = []
  const order = { argv: ['perl', '-e', lookScript], hasInput: true, env: {} }
  const command = attendant.start(order, {
    onStdout: (chunk) => void chunks.push(Buffer.from(chunk)),
    onStderr: () => undefined,
  })
  command.stdin?.end(placements.map(({ at }) => `${at}\0`).join(''))
  const { status } = await command.exited
  await command.gone
  if (status !== 0) throw noAnswer()
  return parseLook(Buffer.concat(chunks).toString('latin1'))
}

/** Removes a container with all processes. Never rejects: a later start removes what is left. */
async function remove(engine: Engine, id: string): Promise<void> {
  try {
    await engine.call('DELETE', `/containers/${id}?force=1&v=1`)
  } catch (error) {
    // the engine itself may be removing it, since its first process has ended
    if (error instanceof EngineError && error.status === 409)
      await engine.call('POST', `/containers/${id}/wait?condition=removed`).catch(() => undefined) // it is gone
  }
}

function configuration(plan: ContainerPlan): object {
  const { image, owner, placements, etc, limits, scratchBytes } = plan
  const [program, ...rest] = attendantArguments('mounts')
  const { memoryBytes, processes = mostProcesses } = limits
  const bind = (Source: string, Target: string, ReadOnly: boolean) => ({
    ...{ Type: 'bind', Source, Target, ReadOnly },
    BindOptions: { Propagation: 'rprivate' },
  })
  const hasScratch = placements.some(({ at }) => at === '/tmp')
  return {
    ...{ Image: image, Entrypoint: [program], Cmd: rest, User: `${owner.uid}:${owner.gid}`, WorkingDir: '/' },
    ...{ OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, Tty: false, StopSignal: 'SIGKILL' },
    ...{ Hostname: 'workspace', NetworkDisabled: true, Healthcheck: { Test: ['NONE'] }, Labels: ownLabels() },
    HostConfig: {
      Mounts: [
        ...placements.map(({ source, at, readOnly }) => bind(source, at, readOnly)),
        ...Object.entries(etc).map(([at, source]) => bind(source, at, true)),
      ],
      ...(!hasScratch && { Tmpfs: { '/tmp': `mode=1777,size=${scratchBytes},exec` } }),
      // no init of the engine: commands could open its streams, which are those of the attendant
      ...{ NetworkMode: 'none', ReadonlyRootfs: true, Init: false, AutoRemove: true, ShmSize: scratchBytes },
      ...{ CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'], LogConfig: { Type: 'none' }, IpcMode: 'private' },
      PidsLimit: processes + ownProcesses,
      ...(memoryBytes !== undefined && { Memory: memoryBytes, MemorySwap: memoryBytes }),
    },
  }
}

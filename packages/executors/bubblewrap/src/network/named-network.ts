import type { Socket as DatagramSocket } from 'node:dgram'
import type { Server } from 'node:net'

import { isWorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import { type ConnectionReport, execError, type ExecutorResult, type HostsRule, shortages } from '@ws/core/executor'
import { addressesIn, systemResolve } from '@ws/network'
import {
  type Authority,
  createAuthority,
  type Gate,
  gateNetwork,
  nameServer,
  openGate,
  RefusedHosts,
} from '@ws/network/gate'

import type { Child } from '../processes/first-process.ts'
import type { HeldNetwork } from '../processes/held-network.ts'
import { type ListenedSockets, useListener } from './listener.ts'
import type { NamedNetwork } from './options.ts'

/** The gate's name server and no search domain, which could reveal the host's network. */
const resolverFile = `nameserver ${nameServer}\nsearch .\noptions timeout:5 attempts:2\n`

/** How commands resolve names, as files of their system. */
export function nameResolution(network: 'none' | 'host' | NamedNetwork): {
  readonly network: boolean
  readonly resolver?: string
} {
  return { network: network === 'host', ...(typeof network === 'object' && { resolver: resolverFile }) }
}

export async function authorityFor(network: 'none' | 'host' | NamedNetwork): Promise<Authority | undefined> {
  const entries = typeof network === 'object' ? (network.requests?.entries ?? []) : []
  return entries.length === 0 ? undefined : createAuthority(entries)
}

export function narrowed(network: NamedNetwork, rules: readonly HostsRule[] = []): NamedNetwork {
  return { ...network, list: network.list.narrow(rules) } // @defence `.narrow(rules)` a host that the executor lists: narrows the list
}

interface OpenedGate {
  readonly pid: number
  readonly gate: Gate
  readonly sockets: ListenedSockets
  readonly release: () => void
}

/** The gate of a network, open while commands run there. Several commands of a workspace can share it. */
export class NetworkGate {
  readonly #network: NamedNetwork
  readonly #authority: Authority | undefined
  readonly #commands = new Set<CommandNetwork>()
  #opened: OpenedGate | undefined
  /** The last time at which several commands ran, in milliseconds since the epoch. */
  #lastShared = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(network: NamedNetwork, authority: Authority | undefined) {
    this.#network = network
    this.#authority = authority
  }

  /** Opens the gate in the network of `place` for one more command. A rebuilt sandbox gets a new gate. @throws WorkspaceError `ENOEXEC` */
  open(command: CommandNetwork, place: Child, owner: Owner): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#commands.has(command) && this.#opened?.pid === place.pid) return
      this.#commands.add(command)
      this.#noteShared()
      if (this.#opened?.pid === place.pid) return await this.#settle()
      await this.#end()
      try {
        await this.#start(place, owner)
      } catch (error) {
        this.#commands.delete(command)
        throw error
      }
    })
  }

  /** Removes a command, and closes the gate after the last one. Resolves when every connection of the command has been reported. */
  leave(command: CommandNetwork): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#commands.has(command)) return
      if (this.#commands.size > 1) await this.#settle()
      else await this.#end()
      this.#noteShared()
      this.#commands.delete(command)
    })
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined) // the caller reports it
    return done
  }

  async #start({ pid, startTime }: Child, owner: Owner): Promise<void> {
    const { list, limits, addresses, resolve = systemResolve, requests: hosts, authorities } = this.#network
    const permits = addressesIn(addresses)
    const authority = this.#authority
    const requests = hosts && authority && { hosts, authority, authorities }
    const gate = await openGate({ list, limits, permits, resolve, requests, onReport: (report) => this.#hear(report) })
    const { wanted } = gate
    const listener = useListener()
    try {
      const sockets = await listener.open({
        pid,
        startTime: startTime ?? '',
        owner,
        network: `${nameServer}/${gateNetwork.bits}`,
        sockets: wanted,
        onSocket(number, handle) {
          const socket = wanted[number]
          if (socket?.kind === 'dns') gate.takeDatagrams(handle as DatagramSocket)
          else gate.takeServer(handle as Server, socket?.port ?? 0)
        },
        onRefused(place) {
          if (place.kind === 'open') gate.hearOpen(place.port)
          else gate.hearRefused(place.kind, place.address, place.port)
        },
      })
      this.#opened = { pid, gate, sockets, release: listener.close }
    } catch (error) {
      listener.close()
      await gate.close()
      throw error
    }
  }

  /** Reports the refusals so far. The same refusal is reported again later, because another command may cause it. */
  async #settle(): Promise<void> {
    await this.#opened?.sockets.settle()
    this.#opened?.gate.settle()
  }

  async #end(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    await opened?.sockets.end()
    opened?.release()
    await opened?.gate.close()
  }

  #noteShared(): void {
    if (this.#commands.size > 1) this.#lastShared = Date.now()
  }

  /** A connection that began while several commands ran can belong to any of them. */
  #hear(report: ConnectionReport): void {
    this.#noteShared()
    let told = report
    // @defence is told as that of another: tells a refusal to each command that ran then
    if (report.time <= this.#lastShared) told = { ...report, shared: true }
    const [first] = this.#commands
    first?.report(told)
    for (const command of this.#commands) command.hear(told)
  }
}

/** The network of one command with a list of hosts. */
export class CommandNetwork {
  readonly #gate: NetworkGate
  readonly #held: HeldNetwork | undefined
  readonly #onConnection: ((report: ConnectionReport) => void) | undefined
  readonly #refused = new RefusedHosts()
  #left: Promise<void> | undefined

  /** @param held the network that the gate's commands share; absent: that of the command's sandbox */
  constructor(gate: NetworkGate, held?: HeldNetwork, onConnection?: (report: ConnectionReport) => void) {
    this.#gate = gate
    this.#held = held
    this.#onConnection = onConnection
  }

  /** Opens the gate for a waiting sandbox. @throws WorkspaceError `ENOEXEC` */
  open(child: Child, owner: Owner): Promise<void> {
    return this.#gate.open(this, this.#held ?? child, owner)
  }

  close(): Promise<void> {
    return (this.#left ??= this.#gate.leave(this))
  }

  /** Adds the refused hosts to the end of a command. */
  addRefusedTo<End extends Pick<ExecutorResult, 'violations'>>(end: End): End {
    return this.#refused.addTo(end)
  }

  /** Passes a connection to the audit, which has one event for each. */
  report(report: ConnectionReport): void {
    this.#onConnection?.(report)
  }

  hear(report: ConnectionReport): void {
    this.#refused.hear(report)
  }
}

/** Opens a probe's network as for a command, so that the probe finds failures. */
export function probedNetwork(
  network: 'none' | 'host' | NamedNetwork,
  held: HeldNetwork | undefined,
): (Pick<CommandNetwork, 'open'> & AsyncDisposable) | undefined {
  if (typeof network !== 'object') return undefined
  const own = new CommandNetwork(new NetworkGate(network, undefined), held)
  return {
    async open(child, owner) {
      try {
        await own.open(child, owner)
      } catch (error) {
        if (!isWorkspaceError(error, 'ENOEXEC') || shortages.of(error) !== undefined) throw error
        const { reason, remedy } = error
        throw execError('ENOEXECUTOR', reason, { remedy, native: error })
      }
    },
    [Symbol.asyncDispose]: () => own.close(),
  }
}

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
import { useListener } from './listener.ts'
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
  return { ...network, list: network.list.narrow(rules) }
}

export class CommandNetwork {
  readonly #network: NamedNetwork
  readonly #authority: Authority | undefined
  readonly #onConnection: ((report: ConnectionReport) => void) | undefined
  readonly #refused = new RefusedHosts()
  readonly #listener = useListener()
  #gate: Gate | undefined
  #closing: Promise<void> | undefined
  #endHearing: (() => Promise<void>) | undefined

  constructor(
    network: NamedNetwork,
    authority: Authority | undefined,
    onConnection?: (report: ConnectionReport) => void,
  ) {
    this.#network = network
    this.#authority = authority
    this.#onConnection = onConnection
  }

  /** Opens the gate in the network of a waiting sandbox; a rebuilt sandbox gets a new gate. @throws WorkspaceError `ENOEXEC` */
  async open({ pid, startTime }: Child, owner: Owner): Promise<void> {
    await this.#end()
    const { list, limits, addresses, resolve = systemResolve, requests: hosts, authorities } = this.#network
    const permits = addressesIn(addresses)
    const authority = this.#authority
    const requests = hosts && authority && { hosts, authority, authorities }
    const gate = await openGate({ list, limits, permits, resolve, requests, onReport: (report) => this.#hear(report) })
    this.#gate = gate
    const { wanted } = gate
    this.#endHearing = await this.#listener.open({
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
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#end().finally(() => this.#listener.close()))
  }

  async #end(): Promise<void> {
    await this.#endHearing?.()
    this.#endHearing = undefined
    await this.#gate?.close()
  }

  /** Adds the refused hosts to the end of a command. */
  addRefusedTo<End extends Pick<ExecutorResult, 'violations'>>(end: End): End {
    return this.#refused.addTo(end)
  }

  #hear(report: ConnectionReport): void {
    this.#onConnection?.(report)
    this.#refused.hear(report)
  }
}

/** Opens a probe's network as for a command, so that the probe finds failures. */
export function probedNetwork(
  network: 'none' | 'host' | NamedNetwork,
): (Pick<CommandNetwork, 'open'> & AsyncDisposable) | undefined {
  if (typeof network !== 'object') return undefined
  const own = new CommandNetwork(network, undefined)
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

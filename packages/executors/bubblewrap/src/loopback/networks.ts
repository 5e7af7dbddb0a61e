import type { Owner } from '@ws/core/adapter'
import { type CommandRequest, execError, type HostsRule } from '@ws/core/executor'
import type { Authority } from '@ws/network/gate'

import { CommandNetwork, narrowed, NetworkGate } from '../network/named-network.ts'
import type { NamedNetwork } from '../network/options.ts'
import type { HeldNetwork } from '../processes/held-network.ts'
import type { StartGuard } from '../processes/start-guard.ts'
import { NetworkHolder } from './holder.ts'

export interface NetworksOptions {
  readonly options: { readonly network: 'none' | 'host' | NamedNetwork; readonly loopback: 'workspace' | 'command' }
  readonly authority: Authority | undefined
  readonly bwrap: string
  readonly owner: Owner
  readonly guard: () => StartGuard
}

/** The network in which a command starts. */
export interface JoinedNetwork {
  readonly network: 'none' | 'host' | HeldNetwork
  /** Present with a list of hosts. */
  readonly named?: CommandNetwork | undefined
}

interface Shared {
  readonly holder: Promise<NetworkHolder>
  readonly gate: NetworkGate | undefined
}

/** The networks of a workspace's commands. Commands with the same list of hosts share one, unless each has its own. */
export class Networks {
  readonly #options: NetworksOptions
  /** By the rules that narrow the list. */
  readonly #shared = new Map<string, Shared>()
  readonly #ending = new AbortController()

  constructor(options: NetworksOptions) {
    this.#options = options
  }

  /** @throws WorkspaceError when no network can be held */
  async join({ bare, onConnection }: CommandRequest, rules: readonly HostsRule[] = []): Promise<JoinedNetwork> {
    const { network, loopback } = this.#options.options
    if (network === 'host') return { network }
    const list = typeof network === 'object' ? narrowed(network, rules) : undefined
    if (loopback === 'command') {
      const gate = list && new NetworkGate(list, this.#options.authority)
      return { network: 'none', named: gate && new CommandNetwork(gate, undefined, onConnection) }
    }
    const { holder, gate } = await this.#find(keyOf(rules, bare), list)
    const { place } = await holder
    return { network: place, named: gate && new CommandNetwork(gate, place, onConnection) }
  }

  /** The network that commands with these rules share now; `undefined` before the first one. */
  async held(rules: readonly HostsRule[]): Promise<HeldNetwork | undefined> {
    const shared = this.#shared.get(keyOf(rules)) ?? this.#shared.get(keyOf(rules, true))
    const known = await shared?.holder.catch(() => undefined) // a command has reported the failure
    return known?.isLost === false ? known.place : undefined
  }

  /** Ends the held networks. Commands that still run keep their own. */
  async close(): Promise<void> {
    this.#ending.abort(execError('ECLOSED', 'the workspace has been closed'))
    const shared = [...this.#shared.values()]
    this.#shared.clear()
    const end = async ({ holder }: Shared) => (await holder.catch(() => undefined))?.close() // a command has reported the failure
    await Promise.all(shared.map(end))
  }

  async #find(key: string, list: NamedNetwork | undefined): Promise<Shared> {
    const known = this.#shared.get(key)
    if (known !== undefined && !(await known.holder).isLost) return known
    if (this.#shared.get(key) !== known) return this.#find(key, list)
    const { signal } = this.#ending
    signal.throwIfAborted()
    const { bwrap, owner, guard, authority } = this.#options
    const gate = list && new NetworkGate(list, authority)
    const made: Shared = { holder: NetworkHolder.start({ bwrap, owner, guard: guard(), signal }), gate }
    this.#shared.set(key, made)
    made.holder.catch(() => this.#shared.get(key) === made && this.#shared.delete(key))
    return made
  }
}

/** Commands that acknowledge a rule share no loopback with the others: a server of theirs could pass on what the rule withholds. */
function keyOf(rules: readonly HostsRule[], bare = false): string {
  // @defence reached over a loopback: by a command with another list of hosts
  return JSON.stringify([bare, ...rules.map(({ name, hosts, asks, granted }) => [name, hosts, asks, granted])])
}

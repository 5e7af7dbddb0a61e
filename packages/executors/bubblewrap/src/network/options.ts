import { durationShape, option, type OptionShape, type OptionShapes } from '@ws/core/options'
import { HostList, addressesShape, readHosts, type Resolve } from '@ws/network'
import {
  checkRequestRules,
  type GateLimits,
  HostRequests,
  requestRulesShape,
  type RequestRules,
} from '@ws/network/gate'

/** A network of which commands reach the listed hosts alone. */
export interface NetworkOptions {
  /**
   * Hosts by name, such as `registry.npmjs.org` for its ports 80 and 443. `*.npmjs.org` stands for every name below, `db.internal:5432`
   * for another port. `hosts` of `@ws/network` has lists for package managers. An empty list allows nothing.
   */
  readonly allow: readonly string[]
  /**
   * Addresses and ranges (`10.0.0.0/8`) that these hosts may have beside public ones. Default: none, so that no name leads to this
   * machine, its network or the metadata service of a cloud. A range never opens a metadata service; its own address does.
   */
  readonly addresses?: readonly string[] | undefined
  /**
   * Gives the addresses of a listed host, in place of the system's resolver. An answer `{ address, port }` leads to another port.
   * It is asked for each connection, and each of its addresses is checked.
   */
  readonly resolve?: Resolve | undefined
  /**
   * Rules for the requests to listed hosts, by their entries in `allow`. The connections to a host with rules are decrypted: a request
   * needs a rule that matches, and a rule can put a credential in, which never enters the sandbox. All other connections pass
   * untouched. It needs the package `node-forge`.
   */
  readonly requests?: RequestRules | undefined
  /** Certificates (PEM) that prove the names of hosts with rules. Default: those that Node trusts. */
  readonly authorities?: readonly string[] | undefined
  /** Connections that a command has open at a time, at most. Default 128; this process needs two descriptors for each. */
  readonly connections?: number | undefined
  /** Bytes that all connections of a command move at most, in both directions. Default: no limit. */
  readonly bytes?: number | undefined
  /** Milliseconds after which a connection is cut on which nothing comes or goes. Default 300,000. */
  readonly idleTimeout?: number | undefined
}

/** As {@link NetworkOptions}, checked. */
export interface NamedNetwork {
  readonly list: HostList
  readonly addresses: readonly string[]
  readonly resolve: Resolve | undefined
  readonly requests: HostRequests | undefined
  readonly authorities: readonly string[] | undefined
  readonly limits: GateLimits
}

const pemBegin = '-----BEGIN CERTIFICATE-----'

const shapes: OptionShapes<NetworkOptions> = {
  allow: option.required(option.strings),
  addresses: addressesShape,
  resolve: option.function,
  requests: requestRulesShape,
  authorities: option.list(
    option.hidden(option.of('a certificate (PEM)', (value) => typeof value === 'string' && value.includes(pemBegin))),
  ),
  connections: option.integer(1, 10_000),
  bytes: option.integer(1),
  idleTimeout: durationShape,
}

export const networkShape: OptionShape = {
  must: '`none`, `host`, or an object with a list of hosts, such as `{ allow: ["registry.npmjs.org"] }`',
  accepts: (value) => value === 'none' || value === 'host' || option.object.accepts(value),
  options: shapes as unknown as OptionShapes,
}

/** @throws WorkspaceError `EINVAL` for an entry that is not a host, and for one that says what another says */
export function resolveNetwork(
  network: 'none' | 'host' | NetworkOptions,
  operation: string,
): 'none' | 'host' | NamedNetwork {
  if (typeof network === 'string') return network
  const {
    allow,
    addresses = [],
    resolve,
    requests,
    authorities,
    connections = 128,
    bytes,
    idleTimeout = 300_000,
  } = network
  const entries = readHosts(allow, { operation, option: 'network.allow' })
  if (requests !== undefined) checkRequestRules(requests, { entries, operation, name: 'network.requests' })
  return {
    ...{ list: new HostList(entries), addresses, resolve, authorities },
    requests: requests && new HostRequests(requests, entries),
    limits: { connections, bytes, idleTimeout },
  }
}

import { hostLists } from '@ws/core/executor'
import { option, type OptionShape, type OptionShapes } from '@ws/core/options'
import { addressesShape, type Resolve } from '@ws/network'
import {
  checkRequestRules,
  type GateLimits,
  HostRequests,
  requestRulesShape,
  type RequestRules,
} from '@ws/network/gate'

/** Commands reach the listed hosts alone. */
export interface NetworkOptions {
  /**
   * Hosts: `registry.npmjs.org` (ports 80 and 443), `*.npmjs.org` (every name below), `db.internal:5432` (another port).
   * `hosts` of `@ws/network` has lists for package managers. An empty list allows nothing.
   */
  readonly allow: readonly string[]
  /**
   * Non-public addresses and ranges (`10.0.0.0/8`) that these hosts may have. Default: none.
   * A range never opens a cloud's metadata service; list the service's own address for that.
   */
  readonly addresses?: readonly string[] | undefined
  /**
   * Resolves listed hosts instead of the system, for each connection. Each address is checked.
   * `{ address, port }` leads to another port.
   */
  readonly resolve?: Resolve | undefined
  /**
   * Rules for requests to listed hosts, by their entries in `allow`. They need the package `node-forge`.
   * Connections to such hosts are decrypted; a request needs a matching rule, which can add a credential outside the sandbox.
   * Other connections pass untouched.
   */
  readonly requests?: RequestRules | undefined
  /** Certificates (PEM) of authorities that prove the names of hosts with rules. Default: Node's authorities. */
  readonly authorities?: readonly string[] | undefined
  /** Limit of open connections of the commands that share a loopback. Default 128. Each connection takes two descriptors of this process. */
  readonly connections?: number | undefined
  /**
   * Limit of bytes over all connections of the commands that share a loopback, both directions together. Counted from 0 when one of them
   * begins or ends. Default: no limit.
   */
  readonly bytes?: number | undefined
  /** Milliseconds until an idle connection is cut. Default 300,000. */
  readonly idleTimeout?: number | undefined
}

/** Checked {@link NetworkOptions}. */
export interface NamedNetwork {
  readonly list: hostLists.List
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
  idleTimeout: option.duration,
}

export const networkShape: OptionShape = {
  must: '`none`, `host`, or an object with a list of hosts, such as `{ allow: ["registry.npmjs.org"] }`',
  accepts: (value) => value === 'none' || value === 'host' || option.object.accepts(value),
  options: shapes as unknown as OptionShapes,
}

/** @throws WorkspaceError `EINVAL` for an invalid or duplicate entry */
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
  const entries = hostLists.read(allow, { operation, option: 'network.allow' })
  if (requests !== undefined) checkRequestRules(requests, { entries, operation, name: 'network.requests' })
  return {
    ...{ list: new hostLists.List(entries), addresses, resolve, authorities },
    requests: requests && new HostRequests(requests, entries),
    limits: { connections, bytes, idleTimeout },
  }
}

import type { ConnectionReport, hostLists } from '@ws/core/executor'

import type { AddressCheck } from '../resolve.ts'
import type { Authority } from '../requests/authority.ts'
import type { HostRequests } from '../requests/hosts.ts'

export interface GateLimits {
  readonly connections: number
  /** Bytes of all connections, in both directions, until the gate settles; absent: no limit. */
  readonly bytes?: number | undefined
  /** Milliseconds without a byte in either direction. */
  readonly idleTimeout: number
}

export interface GateOptions extends AddressCheck {
  readonly list: hostLists.List
  readonly limits: GateLimits
  readonly requests?: GateRequests | undefined
  /** Called once for each connection, and for each refusal. Must not throw. */
  readonly onReport: (report: ConnectionReport) => void
}

export interface GateRequests {
  readonly hosts: HostRequests
  readonly authority: Authority
  /** Certificates (PEM) that prove the names of these hosts, instead of Node's own authorities. */
  readonly authorities?: readonly string[] | undefined
}

/** A socket that a gate needs inside the sandbox. */
export interface WantedSocket {
  readonly kind: 'dns' | 'tcp'
  readonly address: string
  readonly port: number
}

import type { ConnectionReport } from '@ws/core/executor'

import type { AddressCheck } from '../resolve.ts'
import type { HostList } from '@ws/core/executor'

export interface GateLimits {
  /** Connections at a time. */
  readonly connections: number
  /** Bytes of all connections of a command, in both directions; absent: no limit. */
  readonly bytes?: number | undefined
  /** Milliseconds in which nothing comes or goes. */
  readonly idleTimeout: number
}

export interface GateOptions extends AddressCheck {
  readonly list: HostList
  readonly limits: GateLimits
  /** Called once for each connection, and for each refusal. Must not throw. */
  readonly onReport: (report: ConnectionReport) => void
}

/** A socket that a gate needs inside the sandbox. */
export interface WantedSocket {
  readonly kind: 'dns' | 'tcp'
  /** IPv4; `0.0.0.0` for every address. */
  readonly address: string
  readonly port: number
}

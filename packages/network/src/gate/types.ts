import type { AddressCheck } from '../resolve.ts'
import type { HostList } from '../hosts/host-list.ts'

/** A connection that went out, was refused, or failed; or a name that was asked for and is not listed. */
export interface GateReport {
  /** As it was asked for, printable. */
  readonly host: string
  /** Absent where only a name was asked for. */
  readonly port?: number | undefined
  /** The entry of the list that let it pass. */
  readonly entry?: string | undefined
  readonly outcome: 'allowed' | 'denied' | 'failed'
  /** To follow the host in a sentence; absent for an allowed connection. */
  readonly reason?: string | undefined
  readonly remedy?: string | undefined
  /** Milliseconds since the epoch, at the start. */
  readonly time: number
  /** Milliseconds. */
  readonly duration: number
  /** Bytes to the host and from it. */
  readonly sentBytes: number
  readonly receivedBytes: number
}

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
  readonly onReport: (report: GateReport) => void
}

/** A socket that a gate needs inside the sandbox. */
export interface WantedSocket {
  readonly kind: 'dns' | 'tcp'
  /** IPv4; `0.0.0.0` for every address. */
  readonly address: string
  readonly port: number
}

import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'

import type { Child } from '../processes/first-process.ts'

export class SupervisorLost extends Error {}

export interface SupervisorParts {
  readonly child: ChildProcess
  readonly control: Duplex
  readonly status: Duplex
  readonly filterBytes: number
  /** Milliseconds after which a silent supervisor counts as lost. */
  readonly patience: number
  /** Spares to keep ready. */
  readonly spares: number
  /** Throws if commands must not run beside this process. */
  readonly check: (first: Child) => void
  /** Called once, when the supervisor takes orders or is lost. */
  readonly onSettled: () => void
}

export interface WarmEnd {
  /** `undefined`: unknown, or not the command's own end. */
  readonly status: number | undefined
  /** True if the supervisor is lost. */
  readonly isLost?: boolean
  /** Why listings may have been wrong. */
  readonly unlisted?: 'unreadable' | 'killed' | undefined
}

export interface Followed {
  readonly child: Child
  readonly resolve: (end: WarmEnd) => void
  timer?: NodeJS.Timeout
}

export interface Running {
  /** Resolves when the command has ended completely, or the supervisor is lost. */
  readonly ended: Promise<WarmEnd>
  /** Expects the end soon, because the first process has ended and the supervisor must report it. */
  expectEnd(): void
}

const steps = 5

/**
 * Calls `then` after a silence. A suspension of the machine counts as one step, so pending messages are read first.
 * @returns for `clearInterval`
 */
export function afterSilence(milliseconds: number, then: () => void): NodeJS.Timeout {
  let left = steps
  const timer = setInterval(() => {
    left--
    if (left > 0) return
    clearInterval(timer)
    then()
  }, milliseconds / steps)
  return timer
}

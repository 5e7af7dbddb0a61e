import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'

import type { Child } from '../processes/first-process.ts'

/** The reason why a supervisor is not used any more. */
export class SupervisorLost extends Error {}

export interface SupervisorParts {
  readonly child: ChildProcess
  /** Carries lines both ways. */
  readonly control: Duplex
  /** bubblewrap's own reports. */
  readonly status: Duplex
  readonly filterBytes: number
  /** Milliseconds after which a silent supervisor is given up. */
  readonly patience: number
  /** Spares that are kept ready. */
  readonly spares: number
  /** Called once, when it takes orders or is lost. */
  readonly onSettled: () => void
}

/** How a command has ended. */
export interface WarmEnd {
  /** `undefined`: it is not known, or the command did not end by itself. */
  readonly status: number | undefined
  /** The supervisor is lost. */
  readonly isLost?: boolean
  /** Its listings may have been wrong. */
  readonly unlisted?: 'unreadable' | 'killed' | undefined
}

/** A command whose end is awaited. */
export interface Followed {
  readonly child: Child
  readonly resolve: (end: WarmEnd) => void
  timer?: NodeJS.Timeout
}

/** A command in a spare. */
export interface Running {
  /** Resolves when nothing of the command is left, or the supervisor is lost. */
  readonly ended: Promise<WarmEnd>
  /** The first process has ended: its supervisor must say so soon. */
  expectEnd(): void
}

const steps = 5

/**
 * Waits for as many milliseconds, in steps. A machine that was suspended meanwhile has waited for one step only: what it
 * has to say is read first.
 *
 * @returns to be cleared by `clearInterval`
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

/** Signals of urgent calls, such as renewing a lease. A store does not queue urgent calls behind other calls. */
export const urgentSignals = new WeakSet<AbortSignal>()

const answer = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted')?.get

/**
 * Changes a signal: each read of `aborted` first calls `ask`, which may abort the signal. Returns the same signal.
 * A stopped process runs its timers late. Without `ask`, its next request could be sent before a timer aborts the signal.
 */
export function askingSignal(signal: AbortSignal, ask: () => void): AbortSignal {
  const isAborted = (): boolean => {
    ask()
    return answer?.call(signal) as boolean
  }
  return Object.defineProperties(signal, {
    aborted: { get: isAborted },
    throwIfAborted: {
      value: () => {
        if (isAborted()) throw signal.reason
      },
    },
  })
}

/** Makes each read of `signal.aborted` first call `ask` of every asking signal in `others`: see {@link askingSignal}. */
export function askingToo(signal: AbortSignal, ...others: readonly (AbortSignal | undefined)[]): AbortSignal {
  // only an asking signal has `aborted` as its own property, not as its prototype's
  const asking = others.filter((other) => other !== undefined && Object.hasOwn(other, 'aborted'))
  if (asking.length === 0) return signal
  return askingSignal(signal, () => {
    for (const other of asking) void other?.aborted
  })
}

/** Returns `AbortSignal.any` of two signals. If one of the two is an asking signal, so is the result: see {@link askingSignal}. */
export function eitherSignal(left: AbortSignal, right: AbortSignal | undefined): AbortSignal {
  return right === undefined ? left : askingToo(AbortSignal.any([left, right]), left, right)
}

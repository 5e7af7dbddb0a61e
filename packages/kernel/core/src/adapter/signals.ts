/**
 * Signals of short work that must not wait behind the other work of a store, such as the renewal of a lease. A store whose work waits
 * in line looks its signals up here.
 */
export const urgentSignals = new WeakSet<AbortSignal>()

/** The own answer of each signal. */
const answer = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted')?.get

/**
 * Makes the caller's own signal call `ask` before it answers, and returns it. A process that was stopped runs its
 * timers late: an answer may come first, and the next request would leave. `ask` is called whenever `aborted` is looked
 * at, and may abort the signal.
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

/** Has a signal of the caller's own ask another one, where that asks: see {@link askingSignal}. */
export function askingToo(signal: AbortSignal, ...others: readonly (AbortSignal | undefined)[]): AbortSignal {
  // a signal that asks answers by a property of its own
  const asking = others.filter((other) => other !== undefined && Object.hasOwn(other, 'aborted'))
  if (asking.length === 0) return signal
  return askingSignal(signal, () => {
    for (const other of asking) void other?.aborted
  })
}

/** `AbortSignal.any` of two, which still asks where one of them asks: see {@link askingSignal}. */
export function eitherSignal(left: AbortSignal, right: AbortSignal | undefined): AbortSignal {
  return right === undefined ? left : askingToo(AbortSignal.any([left, right]), left, right)
}

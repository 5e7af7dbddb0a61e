/**
 * Calls back once, when a listener's promise has settled or the process has ended. A reader that has stopped reading can
 * hold up a process, but not its end.
 */
export function whenSettled(pending: Promise<void>, ended: AbortSignal | undefined, goOn: () => void): void {
  let called = false
  const once = () => {
    if (called) return
    called = true
    ended?.removeEventListener('abort', once)
    goOn()
  }
  pending.then(once, once)
  ended?.addEventListener('abort', once, { once: true })
}

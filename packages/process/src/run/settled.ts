/** Calls back once, when a listener has settled or the process ended: a stalled reader cannot hold up its end. */
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

/** Wraps a caller's listener, and ignores its errors. */
export function quietly<Event>(listener: ((event: Event) => void) | undefined): (event: Event) => void {
  return (event) => {
    try {
      listener?.(event)
    } catch {
      // in streams and timers, which cause most events, an error would end the process
    }
  }
}

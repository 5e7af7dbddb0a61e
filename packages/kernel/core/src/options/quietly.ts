/** Wraps a caller's listener, and ignores its failures. */
export function quietly<Event>(listener: ((event: Event) => void) | undefined): (event: Event) => void {
  return (event) => {
    try {
      listener?.(event)
    } catch {
      // most events come from streams and timers, where an error would end the process
    }
  }
}

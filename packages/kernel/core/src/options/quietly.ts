/** Wraps a caller's listener, and ignores its errors. */
export function quietly<Event>(listener: ((event: Event) => void) | undefined): (event: Event) => void {
  return (event) => {
    try {
      listener?.(event)
    } catch {
      // ignored, because an error in a stream or timer, where most events arise, would end the process
    }
  }
}

import type { Readable } from 'node:stream'

/** Ends a body that is not needed any more. */
export function discard(body: Readable): void {
  body.on('error', () => undefined)
  body.destroy()
}

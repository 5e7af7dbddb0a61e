import type { Readable } from 'node:stream'

export function discard(body: Readable): void {
  body.on('error', () => undefined) // no caller wants the rest
  body.destroy()
}

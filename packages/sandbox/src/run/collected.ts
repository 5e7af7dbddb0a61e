import type { Duplex } from 'node:stream'

/** The text that a stream gave so far. */
export interface Collected {
  readonly stream: Duplex | undefined
  text(): string
  /** Resolves when the text meets a condition; never, when it ends before. */
  until(condition: (text: string) => boolean): Promise<void>
}

/** Reads a stream as text, and keeps its first 64 KiB. */
export function collect(stream: Duplex | undefined): Collected {
  let text = ''
  const checks = new Set<() => void>()
  stream?.setEncoding('utf8')
  stream?.on('error', () => undefined) // `close` follows
  stream?.once('end', () => stream.destroy())
  stream?.on('data', (chunk: string) => {
    if (text.length < 65_536) text += chunk
    for (const check of checks) check()
  })
  return {
    stream,
    text: () => text,
    until: (condition) =>
      new Promise((resolve) => {
        const check = () => {
          if (!condition(text)) return
          checks.delete(check)
          resolve()
        }
        checks.add(check)
        check()
      }),
  }
}

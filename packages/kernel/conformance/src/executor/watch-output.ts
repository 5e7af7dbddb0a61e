import type { OutputChunk } from '@ws/core'

export function watchOutput() {
  const chunks: OutputChunk[] = []
  const waiting = new Set<() => void>()
  const text = (stream?: OutputChunk['stream']): string => {
    const wanted = chunks.filter((chunk) => stream === undefined || chunk.stream === stream)
    return Buffer.concat(wanted.map(({ data }) => data)).toString('utf8')
  }
  return {
    /** Returns the output so far, of one stream, or of both in the order of the calls. */
    text,
    onOutput(chunk: OutputChunk): void {
      chunks.push(chunk)
      for (const look of waiting) look()
    },
    /** Resolves when the output contains a text. Never settles if the command ends first: race it with `wait`. */
    until(wanted: string): Promise<void> {
      return new Promise((resolve) => {
        const look = (): void => {
          if (!text().includes(wanted)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      })
    },
  }
}

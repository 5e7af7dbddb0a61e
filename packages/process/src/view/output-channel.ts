/** Chunks that come before anybody reads are kept up to so many bytes. */
const backlogBytes = 1 << 20

/** Carries one output stream to at most one reader, without holding the process up when there is none. */
export interface OutputChannel {
  /** For whoever started the command. A second reader gets nothing. */
  readonly output: AsyncIterable<Uint8Array>
  /**
   * Hands a chunk on. While somebody reads, the promise settles when there is room again: reading slowly slows the
   * process down. Without a reader nothing waits: the oldest chunks are dropped beyond 1 MiB.
   */
  push(chunk: Uint8Array): void | Promise<void>
  /** No more will come. */
  end(): void
}

export function createOutputChannel(): OutputChannel {
  const chunks: Uint8Array[] = []
  let size = 0
  let state: 'unread' | 'read' | 'abandoned' = 'unread'
  let ended = false
  let wakeReader: (() => void) | undefined
  let wakeWriter: (() => void) | undefined

  const release = () => {
    wakeWriter?.()
    wakeWriter = undefined
  }
  async function next(): Promise<IteratorResult<Uint8Array>> {
    while (state === 'read') {
      const chunk = chunks.shift()
      if (chunk !== undefined) {
        size -= chunk.length
        if (size < backlogBytes) release()
        return { done: false, value: chunk }
      }
      if (ended) break
      await new Promise<void>((resolve) => (wakeReader = resolve))
    }
    return { done: true, value: undefined }
  }
  async function abandon(): Promise<IteratorResult<Uint8Array>> {
    state = 'abandoned'
    chunks.length = 0
    size = 0
    release()
    wakeReader?.()
    return { done: true, value: undefined }
  }

  return {
    output: {
      [Symbol.asyncIterator]() {
        if (state !== 'unread') return { next: async () => ({ done: true, value: undefined }) }
        state = 'read'
        return { next, return: abandon }
      },
    },
    push(chunk) {
      if (state === 'abandoned') return
      // As it is: Node gives each chunk memory of its own, and a copy would double what there is to collect.
      chunks.push(chunk)
      size += chunk.length
      wakeReader?.()
      wakeReader = undefined
      if (size < backlogBytes) return
      if (state === 'read') return new Promise<void>((resolve) => (wakeWriter = resolve))
      while (size > backlogBytes) size -= chunks.shift()?.length ?? 0
    },
    end() {
      ended = true
      wakeReader?.()
      wakeReader = undefined
    },
  }
}

const empty = Buffer.alloc(0)

export interface Ring {
  length(): number
  /** Copies the bytes that it keeps, since the caller may reuse the chunk. */
  push(chunk: Uint8Array): void
  content(): Buffer
  clone(): Ring
}

/** Keeps the last `limit` bytes. Grows by doubling, since most outputs are small. */
export function createRing(limit: number, from: Buffer = empty): Ring {
  let buffer = from
  let start = 0
  let length = from.length
  function grow(wanted: number) {
    const larger = Buffer.allocUnsafe(Math.min(limit, Math.max(wanted, buffer.length * 2, 4096)))
    buffer.copy(larger, 0, 0, length) // a buffer below its limit has not wrapped yet
    buffer = larger
  }
  const content = (): Buffer => {
    const straight = Math.min(length, buffer.length - start)
    return Buffer.concat([buffer.subarray(start, start + straight), buffer.subarray(0, length - straight)], length)
  }
  return {
    length: () => length,
    content,
    clone: () => createRing(limit, content()),
    push(chunk: Uint8Array) {
      const bytes = chunk.length > limit ? chunk.subarray(chunk.length - limit) : chunk
      if (bytes.length === 0) return
      if (length + bytes.length > buffer.length && buffer.length < limit) grow(length + bytes.length)
      const at = (start + length) % buffer.length
      const straight = Math.min(bytes.length, buffer.length - at)
      buffer.set(bytes.subarray(0, straight), at)
      buffer.set(bytes.subarray(straight), 0)
      const overwritten = Math.max(0, length + bytes.length - buffer.length)
      start = (start + overwritten) % buffer.length
      length = Math.min(buffer.length, length + bytes.length)
    },
  }
}

/** Maximum bytes kept for a later reader. A slow reader can have about as many pending bytes. */
const backlogBytes = 1 << 20

/** Carries one stream to at most one reader. Without a reader, the process does not block. */
export interface OutputChannel {
  /** The output, for the caller that started the command. A second reader gets no bytes. */
  readonly output: AsyncIterable<Uint8Array>
  /** Passes a copy to the reader. Settles when the reader has room. Without a reader, the last 1 MiB is kept. */
  push(chunk: Uint8Array): void | Promise<void>
  end(): void
}

export function createOutputChannel(): OutputChannel {
  const chunks: Uint8Array[] = []
  let size = 0
  let state: 'unread' | 'read' | 'abandoned' = 'unread'
  let unread: Ring | undefined
  const copy = createCopier()
  let ended = false
  let wakeReader: (() => void) | undefined
  let wakeWriter: (() => void) | undefined

  const keep = (chunk: Uint8Array) => {
    chunks.push(chunk)
    size += chunk.length
    wakeReader?.()
    wakeReader = undefined
  }
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
        if (unread !== undefined) keep(unread.content())
        unread = undefined
        return { next, return: abandon }
      },
    },
    push(chunk) {
      if (state === 'abandoned' || chunk.length === 0) return
      if (state === 'unread') {
        unread ??= createRing(backlogBytes)
        unread.push(chunk)
        return
      }
      keep(copy(chunk))
      if (size >= backlogBytes) return new Promise<void>((resolve) => (wakeWriter = resolve))
    },
    end() {
      ended = true
      wakeReader?.()
      wakeReader = undefined
    },
  }
}

/** Size in bytes below which each chunk is copied alone. */
const smallChunk = 1_024
const blockBytes = 131_072

/** Copies chunks into blocks that the reader may keep. Uses few large blocks, since V8 counts bytes outside its heap, not objects. */
function createCopier(): (chunk: Uint8Array) => Uint8Array {
  let block: Buffer | undefined
  let used = 0
  return (chunk) => {
    if (chunk.length < smallChunk || chunk.length > blockBytes) return Buffer.from(chunk)
    if (block === undefined || used + chunk.length > blockBytes) {
      block = Buffer.allocUnsafeSlow(blockBytes)
      used = 0
    }
    const copy = block.subarray(used, used + chunk.length)
    copy.set(chunk)
    used += chunk.length
    return copy
  }
}

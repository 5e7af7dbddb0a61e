export interface MarkFilter {
  /** Starts to search for a mark. `found` gets the number of bytes before the mark. */
  expect(mark: string, found: (offset: number) => void): void
  /** Returns a chunk without the mark. Keeps back a possible beginning of a mark. */
  push(chunk: Buffer): Buffer
  end(): Buffer
}

export function createMarkFilter(): MarkFilter {
  const expected = new Map<Buffer, (offset: number) => void>()
  let waiting: Buffer = Buffer.alloc(0)
  let passed = 0
  return {
    expect(mark, found) {
      expected.set(Buffer.from(mark), found)
    },
    push(chunk) {
      let bytes = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
      for (const [mark, found] of expected) {
        const at = bytes.indexOf(mark)
        if (at < 0) continue
        expected.delete(mark)
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + mark.length)])
        found(passed + at)
      }
      const keep = Math.max(0, ...[...expected.keys()].map((mark) => beginning(bytes, mark)))
      waiting = bytes.subarray(bytes.length - keep)
      const rest = bytes.subarray(0, bytes.length - keep)
      passed += rest.length
      return rest
    },
    end() {
      const rest = waiting
      waiting = Buffer.alloc(0)
      passed += rest.length
      return rest
    },
  }
}

/** Returns the length of the longest suffix of `bytes` that is a prefix of `mark`. */
export function beginning(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(bytes.length, mark.length - 1); length > 0; length--) {
    if (bytes.subarray(bytes.length - length).equals(mark.subarray(0, length))) return length
  }
  return 0
}

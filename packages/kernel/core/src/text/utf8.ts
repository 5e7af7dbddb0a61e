/** Returns the number of bytes before an incomplete last character. */
export function completeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const expected = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return expected > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** Returns the number of bytes of an incomplete first character. */
export function strayLength(bytes: Uint8Array): number {
  let stray = 0
  while (stray < 3 && stray < bytes.length && ((bytes[stray] ?? 0) & 0xc0) === 0x80) stray++
  return stray
}

/** Passes UTF-8 on in whole characters. Keeps an incomplete character until its remaining bytes arrive. */
export function wholeCharacters(hand: (bytes: Uint8Array) => void) {
  let held = new Uint8Array()
  return {
    push(chunk: Uint8Array): void {
      let bytes = chunk
      if (held.length > 0) {
        bytes = new Uint8Array(held.length + chunk.length)
        bytes.set(held)
        bytes.set(chunk, held.length)
      }
      const complete = completeLength(bytes)
      if (complete === bytes.length) {
        if (held.length > 0) held = new Uint8Array()
        hand(bytes)
        return
      }
      held = Uint8Array.from(bytes.subarray(complete))
      if (complete > 0) hand(bytes.subarray(0, complete))
    },
    end(): void {
      const rest = held
      held = new Uint8Array()
      if (rest.length > 0) hand(rest)
    },
  }
}

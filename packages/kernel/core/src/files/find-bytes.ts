const stride = 1 << 20

/**
 * Yields every position of `needle`, also overlapping ones. Sometimes yields `undefined`, so that the caller can pause.
 * Skips ahead (Horspool). After too many comparisons, the search continues in linear time.
 */
export function* findBytes(content: Uint8Array, needle: Uint8Array): Generator<number | undefined, void, undefined> {
  const last = needle.length - 1
  const skips = skipsOf(needle)
  let compared = 0
  let rest = stride
  for (let at = 0; at + last < content.length; ) {
    const end = content[at + last] ?? 0
    if (end === needle[last]) {
      let index = 0
      while (index < last && content[at + index] === needle[index]) index += 1
      if (index === last) yield at
      compared += index
      if (compared > content.length) return yield* findSteadily(content, needle, at + 1)
    }
    at += skips[end] ?? 1
    if (at < rest) continue
    rest = at + stride
    yield undefined
  }
}

/** Returns how far the needle may move, for each content byte that is aligned with the needle's last byte. */
function skipsOf(needle: Uint8Array): Int32Array {
  const skips = new Int32Array(256).fill(needle.length)
  for (let at = 0; at < needle.length - 1; at += 1) skips[needle[at] ?? 0] = needle.length - 1 - at
  return skips
}

/** Works like {@link findBytes}, from a position on (Knuth, Morris and Pratt). */
function* findSteadily(
  content: Uint8Array,
  needle: Uint8Array,
  from: number,
): Generator<number | undefined, void, undefined> {
  const shifts = shiftsOf(needle)
  let matched = 0
  for (let at = from; at < content.length; at += 1) {
    while (matched > 0 && content[at] !== needle[matched]) matched = shifts[matched - 1] ?? 0
    if (content[at] === needle[matched]) matched += 1
    if (matched === needle.length) {
      yield at + 1 - matched
      matched = shifts[matched - 1] ?? 0
    }
    if (at % stride === 0) yield undefined
  }
}

/** For each prefix of the needle, returns the length of its longest proper suffix that is also a prefix of the needle. */
function shiftsOf(needle: Uint8Array): Int32Array {
  const shifts = new Int32Array(needle.length)
  let matched = 0
  for (let at = 1; at < needle.length; at += 1) {
    while (matched > 0 && needle[at] !== needle[matched]) matched = shifts[matched - 1] ?? 0
    if (needle[at] === needle[matched]) matched += 1
    shifts[at] = matched
  }
  return shifts
}

/** How often the search leaves others their turn: after so many bytes. */
const stride = 1 << 20

/**
 * Every place where the bytes of `needle` begin, overlapping ones included, in time that grows with the length only (Knuth,
 * Morris and Pratt). Yields `undefined` now and then, for the caller to rest.
 *
 * @param needle one byte or more
 */
export function* findBytes(content: Uint8Array, needle: Uint8Array): Generator<number | undefined, void, undefined> {
  const shifts = shiftsOf(needle)
  const [first = 0] = needle
  let matched = 0
  let rest = stride
  for (let at = 0; at < content.length; at += 1) {
    if (matched === 0) {
      at = content.indexOf(first, at)
      if (at < 0) return
    }
    while (matched > 0 && content[at] !== needle[matched]) matched = shifts[matched - 1] ?? 0
    if (content[at] === needle[matched]) matched += 1
    if (matched === needle.length) {
      yield at + 1 - matched
      matched = shifts[matched - 1] ?? 0
    }
    if (at < rest) continue
    rest = at + stride
    yield undefined
  }
}

/** Of each beginning of the needle, the length of its longest end that is a beginning of the needle too. */
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

const headBytes = 16
const callCost = 64

/**
 * Finds all places, also overlapping ones. After many false candidates, switches to Knuth-Morris-Pratt, so the time is linear.
 * `Buffer.indexOf` alone takes seconds for a text that nearly repeats. @param needle one byte or more
 */
export function* findBytes(content: Buffer, needle: Uint8Array): Generator<number, void, undefined> {
  const { length } = needle
  const head = needle.subarray(0, headBytes)
  let compared = 0
  for (let at = content.indexOf(head); at !== -1 && at + length <= content.length; at = content.indexOf(head, at + 1)) {
    if (content.compare(needle, 0, length, at, at + length) === 0) yield at
    compared += length + callCost
    if (compared <= content.length) continue
    yield* findRuns(needle, content.length - at - 1, (index) => content[at + 1 + index], at + 1)
    return
  }
}

/** Every place of a list in another list, overlapping places too, in linear time (Knuth-Morris-Pratt). @param offset added to each place */
export function* findRuns(
  wanted: ArrayLike<number>,
  length: number,
  itemAt: (index: number) => number | undefined,
  offset = 0,
): Generator<number, void, undefined> {
  const shifts = shiftsOf(wanted)
  let matched = 0
  for (let at = 0; at < length; at += 1) {
    const item = itemAt(at)
    while (matched > 0 && item !== wanted[matched]) matched = shifts[matched - 1] as number
    if (item === wanted[matched]) matched += 1
    if (matched < wanted.length) continue
    yield offset + at + 1 - matched
    matched = shifts[matched - 1] as number
  }
}

/** For each prefix, the length of its longest proper suffix that is also a prefix. */
function shiftsOf(wanted: ArrayLike<number>): Int32Array {
  const shifts = new Int32Array(wanted.length)
  let matched = 0
  for (let at = 1; at < wanted.length; at += 1) {
    while (matched > 0 && wanted[at] !== wanted[matched]) matched = shifts[matched - 1] as number
    if (wanted[at] === wanted[matched]) matched += 1
    shifts[at] = matched
  }
  return shifts
}

import type { Pace } from '../adapter/pace.ts'

/** Number of entries to sort without a pause, which takes well below a millisecond. */
const mostAtOnce = 2000

/** Sorts a list of any length, and lets the event loop run between parts. No two elements may be equal. */
export async function sortInTurns<Element>(
  list: readonly Element[],
  compare: (left: Element, right: Element) => number,
  pace: Pace,
): Promise<Element[]> {
  if (list.length <= mostAtOnce) return list.toSorted(compare)
  const middle = list.length >> 1
  const left = await sortInTurns(list.slice(0, middle), compare, pace)
  const right = await sortInTurns(list.slice(middle), compare, pace)
  const merged: Element[] = []
  let [next, other] = [0, 0]
  while (next < left.length || other < right.length) {
    const [one, two] = [left[next], right[other]]
    const takesOther = one === undefined || (two !== undefined && compare(one, two) > 0)
    merged.push((takesOther ? two : one) as Element)
    if (takesOther) other += 1
    else next += 1
    if (merged.length % mostAtOnce === 0 && pace.isDue) await pace.rest()
  }
  return merged
}

/** A place in a view. */
export interface Place {
  readonly start: number
  readonly end: number
}

/** More places than this are counted no further. */
export const maxPlaces = 100_000

/**
 * All places of a text. With `all`, those that a replacement of each would take, which do not overlap; else every one, so
 * that a text is found twice where two places overlap.
 */
export function exactPlaces(bytes: Buffer, text: string, all: boolean): Place[] {
  const wanted = Buffer.from(text)
  const places: Place[] = []
  const step = all ? wanted.length : 1
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + step)) {
    places.push({ start: at, end: at + wanted.length })
    if (!all && places.length === maxPlaces) break
  }
  return places
}

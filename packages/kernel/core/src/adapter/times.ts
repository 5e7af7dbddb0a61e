/** The last millisecond that a Date holds. Other programs leave later times in files. */
const latestDate = 8.64e15
/** The last millisecond of the year 9999: other programs do not read later ones. */
const latestSettable = 253_402_300_799_999
/** The last second that a signed number of 32 bits holds. */
const latestInTar = 0x7fff_ffff

/** The time of an entry for `Stat.modifiedAt`, in milliseconds: `undefined`, which is unknown, where no Date holds it. */
export function dateable(time: number): number | undefined {
  return Math.abs(time) <= latestDate ? time : undefined
}

/** The nearest time that `utimes` takes. */
export function settable(time: number): number {
  return Math.min(Math.max(time, 0), latestSettable)
}

/** The nearest time that the header of an entry of a tar archive holds. */
export function tarTime(time: number): Date {
  return new Date(Math.min(Math.max(time, 0), latestInTar * 1_000))
}

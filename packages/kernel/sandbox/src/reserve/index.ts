export type { WatchedCover } from './watch.ts'
export { reservedNames } from './journal.ts'
export {
  type NameKeeper,
  placeOf,
  type Reservation,
  reservationProblem,
  sweepReserved,
  useNameKeeper,
  type WantedName,
} from './reserve.ts'

import { lstatSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'

import { type SharedList, slot, type Status, writeStatus } from './shared.ts'

let list: SharedList | undefined

// a list arrives before the scans that use it
parentPort?.on('message', (message: SharedList | number) => {
  if (typeof message !== 'number') list = message
  else if (list !== undefined) prefetchStatuses(list, message)
})

/** Reads statuses from the last entry to the first, until it reaches the position of the walk. */
function prefetchStatuses(entries: SharedList, number: number): void {
  const { places, progress } = entries
  Atomics.store(progress, slot.first, places.length)
  Atomics.store(progress, slot.looking, number)
  for (let index = places.length - 1; index > Atomics.load(progress, slot.reached); index -= 1) {
    if (Atomics.load(progress, slot.wanted) !== number) return
    writeStatus(entries, index, statusOf(places[index] ?? ''))
    Atomics.store(progress, slot.first, index)
  }
}

function statusOf(place: string): Status | undefined {
  try {
    return lstatSync(place, { throwIfNoEntry: false })
  } catch {
    // the walk reads this entry too, and reports the error
    return undefined
  }
}

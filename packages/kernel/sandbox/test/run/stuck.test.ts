import { expect, it } from 'vitest'

import { StuckWatch } from '../../src/run/tree/end.ts'

const members = [
  { pid: 7, startTime: '100' },
  { pid: 8, startTime: '100' },
]
const waits =
  (...pids: readonly number[]) =>
  (one: { readonly pid: number }) =>
    pids.includes(one.pid)

it('[LS13] a killed process that waits for the disk for a moment is waited for', () => {
  const watch = new StuckWatch()
  expect(watch.look(members, waits(7), 1_000)).toBe(false)
  expect(watch.look(members, waits(7), 1_400)).toBe(false)
  // it had its turn, and another one waits
  expect(watch.look(members, waits(8), 1_450)).toBe(false)
  expect(watch.look(members, waits(7, 8), 1_600)).toBe(false)
  expect(watch.look([{ pid: 7, startTime: '200' }], waits(7), 2_200)).toBe(false)
})

it('[LS13] one that waits in the kernel at every look for half a second counts as stuck', () => {
  const watch = new StuckWatch()
  for (const now of [1_000, 1_250, 1_499]) expect(watch.look(members, waits(8), now)).toBe(false)
  expect(watch.look(members, waits(8), 1_500)).toBe(true)
})

import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { doorOf, scarceDoors } from './doors.ts'
import { runScene, type SceneOptions } from './scene.ts'

/** Typed errors, nothing left behind, and a process that lives and works again. `codes` show that it ran short. */
async function expectLife(options: SceneOptions, codes: readonly string[]): Promise<void> {
  const { faults, outcomes, before, after } = await runScene(options)
  expect(faults).toEqual([])
  expect(after).toEqual(before)
  expect(Object.keys(outcomes)).toEqual(expect.arrayContaining([...codes]))
}

const codesOf = (door: string) => (door === 'files' || door === 'virtual' ? ['EIO'] : ['EIO', 'ENOEXEC'])

const descriptors = (door: string, lefts: readonly number[]) =>
  expectLife({ scarce: 'descriptors', door, lefts, limit: '-n 400' }, codesOf(door))

describe('too few descriptors', () => {
  it('[HO2] at the file API', () => descriptors('files', [3, 1, 0]))

  const { name, components } = doorOf('bubblewrap at /workspace')
  describeWith(components.map(component), name, () => {
    it('[HO2] in commands and sessions', () => descriptors(name, [24, 8, 0]))
  })
})

for (const { name, components } of scarceDoors) {
  describeWith(components.map(component), name, () => {
    it('[HO2] descriptors, from plenty to nothing', { tags: ['deep'] }, () =>
      descriptors(name, [100, 60, 50, 40, 34, 30, 27, 24, 21, 18, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
    )
  })
}

import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { doorOf, scarceDoors } from './doors.ts'
import { runScene, type SceneOptions } from './scene.ts'

/** Expects typed errors, no remains, and a process that lives and works again. `codes` show that it ran short. */
async function expectLife(options: SceneOptions, codes: readonly string[]): Promise<void> {
  const { faults, outcomes, before, after } = await runScene(options)
  expect(faults).toEqual([])
  expect(after).toEqual(before)
  expect(Object.keys(outcomes)).toEqual(expect.arrayContaining([...codes]))
}

const isShort = (door: string) => (door === 'files' || door === 'virtual' ? ['EIO'] : ['EIO', 'ENOEXEC'])

const descriptors = (door: string, lefts: readonly number[]) =>
  expectLife({ scarce: 'descriptors', door, lefts }, isShort(door))

describe('too few descriptors', () => {
  it('[HO2] at the file API and of tools', () => descriptors('files', [3, 1, 0]))

  const { name, components } = doorOf('bubblewrap at /workspace')
  describeWith(components.map(component), name, () => {
    it('[HO2] in commands and sessions', () => descriptors(name, [24, 8, 0]))
  })
})

/** These start in other ways, and meet a full disk and little memory as the first form of bubblewrap does. */
const otherStarts = ['bubblewrap with proot at /', 'bubblewrap at /workspace'].map(doorOf)

for (const door of scarceDoors) {
  const { name, components } = door
  describeWith(components.map(component), name, () => {
    it('[HO2] descriptors, from plenty to nothing', { tags: ['deep'] }, () => descriptors(name, [27, 10, 5, 3, 1, 0]))

    // For a user without other processes, which only root can become. Limits of root are not held.
    it.runIf(process.getuid?.() === 0)('[HO2] processes and threads, from plenty to nothing', { tags: ['deep'] }, () =>
      expectLife({ scarce: 'processes', door: name, lefts: [8, 2, 0] }, []),
    )
  })

  if (otherStarts.includes(door)) continue

  describeWith([...components, 'tmpfs' as const].map(component), name, () => {
    it('[HO2] bytes of the disk, from plenty to nothing', { tags: ['deep'] }, () =>
      expectLife({ scarce: 'bytes', door: name, lefts: [16_384, 4096, 0] }, ['ENOSPC']),
    )

    it('[HO2] entries of the disk, from plenty to nothing', { tags: ['deep'] }, () =>
      expectLife({ scarce: 'inodes', door: name, lefts: [8, 1, 0] }, ['ENOSPC']),
    )
  })

  describeWith(components.map(component), name, () => {
    it('[HO2] memory, down to some for Node, which ends itself without any', { tags: ['deep'] }, () =>
      expectLife({ scarce: 'memory', door: name, lefts: [2 ** 28, 2 ** 26, 2 ** 24] }, []),
    )
  })
}

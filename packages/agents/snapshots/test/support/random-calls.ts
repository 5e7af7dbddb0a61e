import { isWorkspaceError } from '@ws/core'
import type { Workspace } from '@ws/core'

import { pickerOf, randomOf } from './random.ts'

const names = ['a', 'b', 'sub', 'x y', '-n', '#c', 'ü', '.env', 'long'.repeat(20)]

export interface RandomCallsOptions {
  readonly seed: number
  readonly count: number
  /** The store keeps bits and times. */
  readonly keepsBits: boolean
}

/** Calls of the file API that change a tree in every way. All follow from the seed; those that cannot be are let be. */
export async function randomCalls(workspace: Workspace, { seed, count, keepsBits }: RandomCallsOptions): Promise<void> {
  const random = randomOf(seed)
  const pick = pickerOf(random)
  const path = (): string => `/${Array.from({ length: Math.floor(random() * 3) + 1 }, () => pick(names)).join('/')}`
  const text = (): string => String(Math.floor(random() * 10)).repeat(pick([0, 1, 10, 4_096, 70_000]))
  const kinds: (() => Promise<unknown>)[] = [
    () => workspace.createDirectory(path(), { recursive: true }),
    () => workspace.write(path(), text()),
    () => workspace.write(path(), text()),
    () => workspace.write(path(), text()),
    () => workspace.append(path(), text()),
    () => workspace.delete(path(), { recursive: true }),
    () => workspace.move(path(), path(), { overwrite: random() < 0.5 }),
    () => workspace.copy(path(), path(), { recursive: true, overwrite: random() < 0.5 }),
    () => workspace.createSymlink(path(), pick(names)),
  ]
  if (keepsBits) {
    kinds.push(
      () => workspace.chmod(path(), pick([0o600, 0o644, 0o755])),
      () => workspace.utimes(path(), { modifiedAt: 1_600_000_000_000 + Math.floor(random() * 1e11) }),
    )
  }
  for (let call = 0; call < count; call += 1) {
    const run = pick(kinds)
    try {
      await run()
    } catch (error) {
      // nothing there, something in the way: a call of chance
      if (!isWorkspaceError(error)) throw error
    }
  }
}

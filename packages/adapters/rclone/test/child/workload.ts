import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'

/** One change: by the API, or as a command would make it, through the mount itself. */
export interface Step {
  readonly kind: 'write' | 'command' | 'delete' | 'move' | 'flush'
  readonly path: string
  /** For moves. */
  readonly to?: string
  readonly content?: string
}

export interface Report {
  readonly index: number
  readonly state: 'begun' | 'done' | 'failed'
}

/** Numbers from 0 to 1 that follow from a seed. */
export function randomFrom(seed: number): () => number {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bf03635) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Mixed changes that follow from a seed: files made, replaced, moved, deleted, in directories old and new. */
export function stepsFrom(seed: number, count: number): Step[] {
  const random = randomFrom(seed)
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)]
  const there = new Set<string>()
  const steps: Step[] = []
  for (let index = 0; index < count; index += 1) {
    const chance = random()
    const path = random() < 0.5 ? (pick([...there]) ?? `/f${index}`) : `/d${Math.floor(random() * 5)}/f${index}`
    const content = `${seed}:${index}:${'x'.repeat(Math.floor(random() ** 4 * 60_000))}:end`
    if (chance < 0.08) steps.push({ kind: 'flush', path: '/' })
    else if (chance < 0.2 && there.has(path)) {
      steps.push({ kind: 'delete', path })
      there.delete(path)
    } else if (chance < 0.3 && there.has(path)) {
      const to = `/m${index}`
      steps.push({ kind: 'move', path, to })
      there.delete(path)
      there.add(to)
    } else if (chance < 0.5) {
      const made = random() < 0.5 ? (pick([...there]) ?? `/c${index}`) : `/c${index}`
      steps.push({ kind: 'command', path: made, content })
      there.add(made)
    } else {
      steps.push({ kind: 'write', path, content })
      there.add(path)
    }
  }
  return steps
}

/** Does the steps one after the other, telling of each; goes on after those that fail. */
export async function work(adapter: StorageAdapter, steps: readonly Step[], report: (report: Report) => void) {
  const root = String(adapter.hostPath?.(paths.parseMount('/')))
  for (const [index, step] of steps.entries()) {
    report({ index, state: 'begun' })
    try {
      await perform(adapter, root, step)
      report({ index, state: 'done' })
    } catch {
      report({ index, state: 'failed' })
    }
  }
}

async function perform(adapter: StorageAdapter, root: string, { kind, path, to = '', content = '' }: Step) {
  if (kind === 'flush') await adapter.flush?.()
  else if (kind === 'command') await writeFile(join(root, path), content)
  else if (kind === 'delete') await adapter.delete(paths.parseMount(path))
  else if (kind === 'move') await adapter.move(paths.parseMount(path), paths.parseMount(to))
  else await adapter.write(paths.parseMount(path), new TextEncoder().encode(content), { parents: true })
}

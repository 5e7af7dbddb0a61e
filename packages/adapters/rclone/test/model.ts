import type { Report, Step } from './child/workload.ts'

/** `undefined`: no file. */
export type Content = string | undefined

/** The possible content of each path, by the steps that were begun and acknowledged. */
export class Model {
  readonly #steps: readonly Step[]
  #possible = new Map<string, Set<Content>>()
  #flushing: Map<string, Set<Content>> | undefined
  /** The state that flush() has confirmed, without paths that were touched since. */
  confirmed = new Map<string, Set<Content>>()
  acknowledged = 0
  /** Paths that a command may have begun to write: part of it may be there. */
  readonly partial = new Set<string>()

  constructor(steps: readonly Step[]) {
    this.#steps = steps
  }

  report({ index, state }: Report): void {
    const step = this.#steps[index]
    if (step === undefined) throw new Error('there is no such step')
    if (step.kind === 'flush') return this.#flush(state)
    const effects = this.#effects(step)
    if (step.kind === 'command' && state === 'begun') this.partial.add(step.path)
    else for (const path of effects.keys()) this.partial.delete(path)
    for (const [path, content] of effects) {
      const before = this.#possible.get(path) ?? new Set<Content>([undefined])
      if (state === 'begun') this.#possible.set(path, new Set([...before, ...content]))
      if (state === 'done') this.#possible.set(path, content)
      this.confirmed.delete(path)
      this.#flushing?.delete(path)
    }
    if (state === 'done') this.acknowledged += 1
  }

  get possible(): ReadonlyMap<string, ReadonlySet<Content>> {
    return this.#possible
  }

  #flush(state: Report['state']): void {
    if (state === 'begun') this.#flushing = new Map(this.#possible)
    if (state === 'done' && this.#flushing !== undefined) this.confirmed = this.#flushing
    if (state !== 'begun') this.#flushing = undefined
  }

  /** The effects of a step. A move takes along what was there before it began. */
  #effects({ kind, path, to = '', content }: Step): Map<string, Set<Content>> {
    if (kind === 'delete') return new Map([[path, new Set<Content>([undefined])]])
    if (kind !== 'move') return new Map([[path, new Set<Content>([content])]])
    const moved = new Set([...(this.#possible.get(path) ?? []), ...(this.#possible.get(to) ?? [])])
    moved.delete(undefined)
    return new Map([
      [path, new Set<Content>([undefined])],
      [to, new Set<Content>(moved)],
    ])
  }
}

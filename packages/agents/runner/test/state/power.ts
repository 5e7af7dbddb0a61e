import type { StorageAdapter } from '@ws/core/adapter'

/** Cuts the power of all adapters at once, at one change: right before it, or right after it. */
export class Power {
  changes = 0
  isOn = true
  readonly #last: number
  readonly #where: 'before' | 'behind'

  constructor(last: number, where: 'before' | 'behind') {
    this.#last = last
    this.#where = where
  }

  of(adapter: StorageAdapter): StorageAdapter {
    const changing = new Set<unknown>(['write', 'delete', 'createDirectory', 'copy', 'move', 'append'])
    return new Proxy(adapter, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const call = value.bind(target) as (...given: unknown[]) => unknown
        if (!changing.has(name)) return (...given: unknown[]) => (this.#check(), call(...given))
        return async (...given: unknown[]) => {
          this.#check()
          this.changes += 1
          const isLast = this.changes === this.#last
          if (isLast && this.#where === 'before') this.isOn = false
          this.#check()
          const result = await call(...given)
          if (isLast) this.isOn = false
          this.#check()
          return result
        }
      },
    })
  }

  #check(): void {
    if (!this.isOn) throw new Error('the power is off')
  }
}

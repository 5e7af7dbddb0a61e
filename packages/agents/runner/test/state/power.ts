import type { MountPath, StorageAdapter, AdapterOptions } from '@ws/core/adapter'

/** Cuts the power of all adapters at once, at one change: right before it, or right after it. Writes that no call made durable are lost. */
export class Power {
  changes = 0
  isOn = true
  readonly #last: number
  readonly #where: 'before' | 'behind'
  readonly #heldBack: { readonly adapter: StorageAdapter; readonly path: MountPath }[] = []

  constructor(last: number, where: 'before' | 'behind') {
    this.#last = last
    this.#where = where
  }

  of(adapter: StorageAdapter): StorageAdapter {
    const changing = new Set<unknown>(['write', 'delete', 'createDirectory', 'copy', 'move', 'append'])
    return new Proxy(adapter, {
      get: (target, name) => {
        if (name === 'flush') return async () => this.#keep((held) => held.adapter === adapter)
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
          if (name === 'write') this.#note(adapter, ...(given as [MountPath, unknown, AdapterOptions.Write?]))
          if (isLast) this.isOn = false
          this.#check()
          return result
        }
      },
    })
  }

  /** Removes the files that were not on the disk when the power was cut. */
  async lose(): Promise<void> {
    for (const { adapter, path } of this.#heldBack) await adapter.delete(path, { force: true })
  }

  #note(
    adapter: StorageAdapter,
    path: MountPath,
    _data: unknown,
    { durable = false }: AdapterOptions.Write = {},
  ): void {
    this.#keep((held) => held.adapter === adapter && held.path === path)
    if (!durable) this.#heldBack.push({ adapter, path })
  }

  #keep(isOnDisk: (held: { readonly adapter: StorageAdapter; readonly path: MountPath }) => boolean): void {
    const left = this.#heldBack.filter((held) => !isOnDisk(held))
    this.#heldBack.splice(0, Infinity, ...left)
  }

  #check(): void {
    if (!this.isOn) throw new Error('the power is off')
  }
}

import type { Hosted, Methods, ServiceData } from './protocol.ts'
import { Service } from './service.ts'

export class Host implements Hosted {
  readonly #services = new Map<number, Service>()
  #last = 0

  start(data: ServiceData): number {
    const service = new Service(data)
    this.#last += 1
    this.#services.set(this.#last, service)
    return this.#last
  }

  call(replica: number, method: keyof Methods, args: readonly unknown[]): unknown {
    const service = this.#services.get(replica)
    if (service === undefined) throw new Error('the replica is closed')
    const run = service[method].bind(service) as (...given: readonly unknown[]) => unknown
    return run(...args)
  }

  close(): void {
    for (const replica of this.#services.keys()) this.end(replica)
  }

  end(replica: number): void {
    this.#services.get(replica)?.close()
    this.#services.delete(replica)
  }
}

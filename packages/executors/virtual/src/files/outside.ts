import { AsyncResource } from 'node:async_hooks'

import type { FileDoor } from '@ws/core'

/** Runs a file API outside of the script's context. just-bash ends scripts that use timers or sockets, which stores need. */
export function outsideOfScripts<Door extends FileDoor>(door: Door): Door {
  const here = new AsyncResource('ws.executor-virtual')
  return new Proxy(door, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...parameters: unknown[]): unknown => {
        const result: unknown = here.runInAsyncScope(() => Reflect.apply(value, target, parameters))
        return isIterator(result) ? iterateIn(here, result) : result
      }
    },
  })
}

function isIterator(value: unknown): value is AsyncIterableIterator<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value
}

function iterateIn(here: AsyncResource, iterator: AsyncIterableIterator<unknown>): AsyncIterableIterator<unknown> {
  return {
    next: () => here.runInAsyncScope(() => iterator.next()),
    return: (value) => here.runInAsyncScope(async () => (await iterator.return?.(value)) ?? { done: true, value }),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

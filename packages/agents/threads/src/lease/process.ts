import { setTimeout as delay } from 'node:timers/promises'

import { heldError, lostError } from './errors.ts'
import { holderName } from './holder.ts'
import type { AcquireOptions, Lease, LeaseHolder, LeaseStore } from './types.ts'

const pollMs = 20

/** Leases among the users of one `LeaseStore` object: for stores that exist in this process only. */
export function createProcessLeases(): LeaseStore {
  const held = new Map<string, LeaseHolder>()
  const notes = new Map<string, Readonly<Record<string, string>>>()
  return {
    scope: 'process',
    async acquire(name: string, { wait = 0, signal }: AcquireOptions = {}): Promise<Lease> {
      const deadline = performance.now() + wait
      for (;;) {
        signal?.throwIfAborted()
        const other = held.get(name)
        if (other === undefined) break
        if (performance.now() >= deadline) throw heldError(name, other)
        await delay(pollMs, undefined, { signal })
      }
      const holder: LeaseHolder = { name: holderName(), since: Date.now() }
      const lost = new AbortController()
      held.set(name, holder)
      const isHeld = (): boolean => held.get(name) === holder
      const release = async (): Promise<void> => {
        if (isHeld()) held.delete(name)
      }
      return {
        name,
        holder,
        lost: lost.signal,
        isHeld,
        get notes() {
          return notes.get(name) ?? {}
        },
        async writeNotes(next) {
          if (!isHeld()) throw lostError(name)
          notes.set(name, { ...next })
        },
        release,
        [Symbol.asyncDispose]: release,
      }
    },
    holder: async (name) => held.get(name),
    close: async () => held.clear(),
  }
}

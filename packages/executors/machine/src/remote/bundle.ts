import { isWorkspaceError } from '@ws/core'
import { execError } from '@ws/core/executor'

import type { Machine } from '../contract.ts'
import { remedy } from './listing.ts'
import type { Bundle } from './script.ts'

/** Parts of a bundle for the command. */
export interface Extra {
  readonly input?: Uint8Array | undefined
  readonly text?: Uint8Array | undefined
}

export interface Parts extends Extra {
  readonly archive?: AsyncGenerator<Uint8Array>
  /** Called after the archive is read. */
  readonly gone?: () => Buffer
  readonly known?: Buffer
}

/** Puts a bundle on a machine, unless it would be empty. */
export async function putBundle(
  machine: Machine,
  { archive, gone, known, input, text }: Parts,
  { path, signal }: Parameters<Machine['put']>[1],
): Promise<Bundle | undefined> {
  const first = await archive?.next()
  let removals = first?.value === undefined ? gone?.() : undefined
  const parts = () => [removals, known, input, text].filter((part) => part !== undefined)
  if (first?.value === undefined && known === undefined && parts().every(({ length }) => length === 0)) return undefined
  let size = 0
  async function* content(): AsyncGenerator<Uint8Array, undefined> {
    if (first?.value !== undefined) {
      for await (const chunk of chain(first.value, archive)) {
        size += chunk.length
        yield chunk
      }
      removals = gone?.()
    }
    yield* parts()
    return undefined
  }
  try {
    await machine.put(content(), { path, signal })
  } catch (error) {
    signal?.throwIfAborted()
    if (isWorkspaceError(error)) throw error
    throw execError('EIO', 'the machine did not take the workspace’s files; the command did not start', {
      remedy,
      native: error,
    })
  }
  const of = (part: Uint8Array | undefined) => part?.length ?? 0
  return { path, archive: size, gone: of(removals), known: of(known), input: of(input), text: of(text) }
}

async function* chain(
  first: Uint8Array,
  rest: AsyncIterable<Uint8Array> = (async function* () {})(),
): AsyncGenerator<Uint8Array, undefined> {
  yield first
  yield* rest
  return undefined
}

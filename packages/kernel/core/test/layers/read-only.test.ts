import { describe, expect, it } from 'vitest'

import { operations, type StorageAdapter } from '../../src/adapter.ts'
import { optionalOperations } from '../../src/contract/operations.ts'
import { createPolicy, paths, readOnly, rules } from '../../src/index.ts'
import { factsOf } from '../../src/contract/operations.ts'
import { rejection, stub } from './stub.ts'

/** An operation that came later than everything that judges operations. */
const unknown = 'unheardOf'

describe('an operation that the table of operations lacks', () => {
  it('is denied by a read-only layer: nothing of it reaches the store', async () => {
    const { adapter, calls } = stub({ [unknown]: async () => undefined } as Partial<StorageAdapter>)
    const view = readOnly(adapter) as unknown as Record<string, unknown>
    expect(view[unknown]).toBeUndefined()
    expect(calls).toEqual([])
  })

  it('counts as a change that makes something', () => {
    expect(factsOf(unknown)).toMatchObject({ changes: true, need: 'write', creates: 'path' })
    expect(factsOf('constructor').changes).toBe(true)
  })

  it('is denied by rules for whoever may only read', () => {
    const policy = createPolicy([rules.readOnly('/docs')])
    const request = { operation: unknown, path: '/docs/a', need: factsOf(unknown).need } as never
    expect(policy.decide(request)).toMatchObject({ effect: 'deny' })
  })
})

describe('readOnly', () => {
  it.each(Object.entries(operations).filter(([, { changes }]) => changes))('refuses %s', async (operation) => {
    const done = async (): Promise<never> => undefined as never
    const { adapter, calls } = stub(Object.fromEntries(optionalOperations.map((name) => [name, done])))
    const view = readOnly(adapter) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
    const error = await rejection(
      view[operation]?.(paths.parseMount('/a'), operation === 'createSymlink' ? 'x' : paths.parseMount('/b')),
    )
    expect(error).toMatchObject({ code: 'EROFS', operation, path: '/a' })
    expect(calls).toEqual([])
  })
})

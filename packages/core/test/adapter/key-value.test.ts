import { expect, it } from 'vitest'

import { defineAdapter, keyValueDriver, parseMountPath as at, type KeyValueStore } from '../../src/adapter.ts'
import { rejection } from '../layers/stub.ts'

const bytes = new Uint8Array([1])

function storeOf(own: Partial<Record<keyof KeyValueStore, unknown>>): KeyValueStore {
  const map = new Map<string, Uint8Array>()
  const store: KeyValueStore = {
    get: (key) => map.get(key),
    set: (key, value) => map.set(key, value),
    delete: (key) => map.delete(key),
    keys: (prefix) => [...map.keys()].filter((key) => key.startsWith(prefix)),
  }
  return { ...store, ...own } as KeyValueStore
}

it.each([
  ['a `get` that gives null', { get: () => null }],
  ['a `get` that gives a text', { get: () => 'x' }],
  ['a `get` that rejects', { get: () => Promise.reject(new Error('ENOENT: /host/path')) }],
  ['`keys` that ignore the prefix', { keys: () => ['other'] }],
  ['`keys` that are not texts', { keys: () => [7] }],
])('names the adapter as the cause of %s', async (_, own) => {
  const adapter = defineAdapter(keyValueDriver(storeOf(own), { name: 'mine' }))
  const error = await rejection(adapter.write(at('/file'), bytes))
  expect(error).toMatchObject({
    code: 'EBACKEND',
    operation: 'write',
    path: '/file',
    reason: expect.stringContaining('the adapter mine has a fault'),
  })
  expect(String(error)).not.toContain('/host')
})

it.each([
  ['keyValueDriver', () => keyValueDriver(storeOf({}), { readonly: true } as never)],
  ['defineAdapter', () => defineAdapter(keyValueDriver(storeOf({})), { trust: true } as never)],
])('%s refuses an option that it does not know', async (operation, make) => {
  expect(await rejection((async () => make())())).toMatchObject({ code: 'EINVAL', operation })
})

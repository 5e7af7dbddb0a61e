import { expect, it } from 'vitest'

import { paths } from '../../src/index.ts'
import { defineAdapter, keyValueDriver } from '../../src/adapter.ts'
import type { KeyValueStore } from '../../src/adapter/key-value/store.ts'
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

it('takes promises from all four functions', async () => {
  const { get, set, delete: remove, keys } = storeOf({})
  const store: KeyValueStore = {
    get: async (key) => await get(key),
    set: async (key, value) => set(key, value),
    delete: async (key) => remove(key),
    keys: async (prefix) => await keys(prefix),
  }
  const adapter = defineAdapter(keyValueDriver(store))
  await adapter.write(paths.parseMount('/d/file'), bytes, { parents: true })
  expect((await adapter.stat(paths.parseMount('/d'))).type).toBe('directory')
})

it.each([
  ['a `get` that gives null', { get: () => null }, '`get` of the store must give'],
  ['a `get` that gives a text', { get: () => 'x' }, '`get` of the store must give'],
  ['a `get` that rejects', { get: () => Promise.reject(new Error('ENOENT: /host/path')) }, 'threw a foreign error'],
  ['`keys` that ignore the prefix', { keys: () => ['other'] }, '`keys` of the store must give only keys'],
  ['`keys` that are not texts', { keys: () => [7] }, '`keys` of the store must give texts'],
  ['`keys` that give one text', { keys: () => 'x' }, '`keys` of the store must give a list'],
  ['`keys` that give nothing', { keys: () => Promise.resolve() }, '`keys` of the store must give a list'],
])('names the adapter as the cause of %s', async (_, own, words) => {
  const adapter = defineAdapter(keyValueDriver(storeOf(own), { name: 'mine' }))
  const error = await rejection(adapter.write(paths.parseMount('/file'), bytes))
  expect(error).toMatchObject({
    code: 'EBACKEND',
    operation: 'write',
    path: '/file',
    reason: expect.stringContaining(`the adapter mine has a fault: ${words.startsWith('`') ? words : '`write` '}`),
  })
  expect(String(error)).toContain(words)
  expect(String(error)).not.toContain('/host')
})

it.each([
  ['keyValueDriver', () => keyValueDriver(storeOf({}), { readonly: true } as never)],
  ['defineAdapter', () => defineAdapter(keyValueDriver(storeOf({})), { trust: true } as never)],
])('%s refuses an option that it does not know', async (operation, make) => {
  expect(await rejection((async () => make())())).toMatchObject({ code: 'EINVAL', operation })
})

import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => void vi.unstubAllGlobals())

async function load(module: string, runtime: unknown): Promise<unknown> {
  vi.resetModules()
  vi.stubGlobal('process', runtime)
  return await import(`../src/${module}.ts`).catch((error: Error) => error.message)
}

it.each(['index', 'adapter', 'executor', 'options'])('%s: an old Node is told in one sentence', async (door) => {
  const told = '@ws/core needs Node 22.18 or newer, got 20.20.2; install it from https://nodejs.org'
  expect(await load(door, { versions: { node: '20.20.2' } })).toBe(told)
})

it.each([
  [false, { versions: { node: '9.0.0' } }],
  [false, { versions: { node: '22.17.9' } }],
  [true, { versions: { node: '22.18.0' } }],
  [true, { versions: { node: '26.0.0' } }],
  [true, { versions: {} }],
  [true, {}],
  [true, undefined],
])('%s for %j', async (supported, runtime) => {
  expect(typeof (await load('node-version', runtime))).toBe(supported ? 'object' : 'string')
})

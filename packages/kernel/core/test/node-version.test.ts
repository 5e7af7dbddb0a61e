import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

import { expect, it } from 'vitest'

/** A thread has modules of its own: those of core are not loaded there yet. */
const program = `
  const { parentPort, workerData } = require('node:worker_threads')
  globalThis.process = workerData.runtime
  import(workerData.url).then(
    () => parentPort.postMessage(undefined),
    (error) => parentPort.postMessage(error.message),
  )`

/** @returns the message of the error that loading a module of core throws, where `process` is another one */
async function load(module: string, runtime: unknown): Promise<string | undefined> {
  const url = new URL(`../src/${module}.ts`, import.meta.url).href
  const thread = new Worker(program, { eval: true, workerData: { url, runtime } })
  try {
    const [message] = (await once(thread, 'message')) as [string | undefined]
    return message
  } finally {
    await thread.terminate()
  }
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
  const message = await load('node-version', runtime)
  if (supported) expect(message).toBeUndefined()
  else expect(message).toContain('needs Node 22.18 or newer')
})

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

import { expect, it } from 'vitest'

/** A thread has globals and modules of its own: no test has loaded the tools there. */
const program = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { grow } = WebAssembly.Memory.prototype
  import(workerData).then(() => parentPort.postMessage(WebAssembly.Memory.prototype.grow === grow))`

it('[EX1] the executor changes no global of the process that imports it', async () => {
  const workerData = new URL('../src/index.ts', import.meta.url).href
  const thread = new Worker(program, { eval: true, workerData })
  expect(await once(thread, 'message')).toEqual([true])
  await thread.terminate()
})

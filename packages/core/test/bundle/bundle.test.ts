import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { rolldown } from 'rolldown'
import { beforeAll, describe, expect, it } from 'vitest'
import { run } from './entry.ts'

const here = fileURLToPath(new URL('../..', import.meta.url))

/** The names that browsers and their workers have besides the language. */
const webGlobals = [
  'AbortController',
  'AbortSignal',
  'DOMException',
  'Event',
  'EventTarget',
  'ReadableStream',
  'URL',
  'clearInterval',
  'clearTimeout',
  'console',
  'crypto',
  'performance',
  'queueMicrotask',
  'setInterval',
  'setTimeout',
  'structuredClone',
] as const

/** Made in the context, so that what they give are its own arrays. */
const encoders = `
  globalThis.TextEncoder = class { encode(text) { return new Uint8Array(host.encode(text)) } }
  globalThis.TextDecoder = class {
    constructor(...given) { this.decoder = host.decoder(...given) }
    decode(...given) { return this.decoder.decode(...given) }
  }
`

describe('the core without Node', () => {
  let code = ''
  let expected = ''

  beforeAll(async () => {
    const bundle = await rolldown({
      input: fileURLToPath(new URL('entry.ts', import.meta.url)),
      platform: 'browser',
      onLog: (_, { message }) => {
        throw new Error(message)
      },
    })
    const { output } = await bundle.generate({ format: 'iife', name: 'core' })
    await bundle.close()
    const [chunk] = output
    expect(output).toHaveLength(1)
    expect(chunk.imports).toEqual([])
    expect(chunk.moduleIds.filter((id) => !id.startsWith(here) && !id.startsWith('\0'))).toEqual([])
    code = chunk.code
    expected = await run()
    expect(expected).toContain('denyGlob(*.pem)')
  })

  it('[RU4] imports nothing, and runs as a bundle among the globals of a page', async () => {
    const host = {
      encode: (text: string) => new TextEncoder().encode(text),
      decoder: (...given: ConstructorParameters<typeof TextDecoder>) => new TextDecoder(...given),
    }
    const globals = Object.fromEntries(webGlobals.map((name) => [name, globalThis[name]]))
    const context = createContext({ ...globals, host })
    runInContext(`globalThis.window = globalThis; ${encoders} ${code}; globalThis.core = core`, context)
    expect(runInContext('typeof process + typeof Buffer + typeof setImmediate + typeof require', context)).toBe(
      'undefined'.repeat(4),
    )
    expect(await runInContext('core.run()', context)).toBe(expected)
  })

  it('[RU4] runs as a bundle in a worker without the globals of Node', async () => {
    const kept = [...webGlobals, 'TextDecoder', 'TextEncoder']
    const worker = new Worker(
      `const { parentPort } = require('node:worker_threads')
      const language = new Set(Object.getOwnPropertyNames(require('node:vm').runInNewContext('globalThis')))
      const kept = new Set(${JSON.stringify(kept)})
      for (const name of Object.getOwnPropertyNames(globalThis)) {
        if (!language.has(name) && !kept.has(name)) delete globalThis[name]
      }
      const left = ['process', 'Buffer', 'setImmediate', 'require'].filter((name) => name in globalThis)
      ;(0, eval)(${JSON.stringify(`${code}; globalThis.core = core`)})
      core.run().then((found) => parentPort.postMessage({ found, left }), (error) => { throw error })`,
      { eval: true },
    )
    try {
      const message = await new Promise((resolve, reject) => {
        worker.once('message', resolve)
        worker.once('error', reject)
      })
      expect(message).toEqual({ found: expected, left: [] })
    } finally {
      await worker.terminate()
    }
  })
})

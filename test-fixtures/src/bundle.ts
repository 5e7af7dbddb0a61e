import { createContext, runInContext } from 'node:vm'
import { Worker } from 'node:worker_threads'

import { type InputOptions, rolldown } from 'rolldown'

import { createTiedDirectory } from './s3/directory.ts'
import { startWorkerd } from './workerd.ts'

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

const nodeGlobals = ['process', 'Buffer', 'setImmediate', 'require'] as const

/** Encoders made inside the context, so that their results are arrays of that context. */
const encoders = `
  globalThis.TextEncoder = class { encode(text) { return new Uint8Array(host.encode(text)) } }
  globalThis.TextDecoder = class {
    constructor(...given) { this.decoder = host.decoder(...given) }
    decode(...given) { return this.decoder.decode(...given) }
  }
`

export interface BrowserBundle {
  /** A script without imports; the module's exports are in the global `bundle`. */
  readonly code: string
  readonly modules: readonly string[]
}

/** Replacements for modules and names of Node. */
export type Replacements = Pick<InputOptions, 'plugins' | 'transform'>

/**
 * Bundles a module for browsers. @param conditions of `exports`, besides those of browsers
 * @throws Error for each complaint of the bundler, such as an import of `node:fs`
 */
export async function bundleForBrowser(
  input: string,
  conditions: readonly string[] = [],
  minify = false,
  replacements: Replacements = {},
): Promise<BrowserBundle> {
  const build = await rolldown({
    ...replacements,
    input,
    platform: 'browser',
    resolve: { conditionNames: [...conditions, 'browser', 'import', 'default'] },
    onLog: (_, { message }) => {
      throw new Error(message)
    },
  })
  try {
    const { output } = await build.generate({ format: 'iife', name: 'bundle', codeSplitting: false, minify })
    const [chunk, ...others] = output
    // a dynamic import of a part of the bundle uses its own name
    const imports = [...chunk.imports, ...chunk.dynamicImports].filter((name) => name !== chunk.fileName)
    const outside = [...imports, ...others.map(({ fileName }) => fileName)]
    if (outside.length > 0) throw new Error(`the bundle is not alone: ${outside.join(' ')}`)
    return { code: chunk.code, modules: chunk.moduleIds.filter((id) => !id.startsWith('\0')) }
  } finally {
    await build.close()
  }
}

/** Bundles a program for Node into one file, with all that it imports. */
export async function bundleForNode(input: string, file: string): Promise<void> {
  const build = await rolldown({ input, platform: 'node' })
  try {
    await build.write({ format: 'esm', file, codeSplitting: false })
  } finally {
    await build.close()
  }
}

/** The answer of a bundle's `run()`, and the visible names of {@link nodeGlobals}. */
export interface BundleRun {
  readonly found: unknown
  readonly left: readonly string[]
}

export async function runInPage({ code }: BrowserBundle): Promise<BundleRun> {
  const host = {
    encode: (text: string) => new TextEncoder().encode(text),
    decoder: (...given: ConstructorParameters<typeof TextDecoder>) => new TextDecoder(...given),
  }
  const globals = Object.fromEntries(webGlobals.map((name) => [name, globalThis[name]]))
  const context = createContext({ ...globals, host })
  runInContext(`globalThis.window = globalThis; ${encoders} ${code}; globalThis.bundle = bundle`, context)
  const left = nodeGlobals.filter((name) => runInContext(`typeof ${name}`, context) !== 'undefined')
  return { found: await (runInContext('bundle.run()', context) as Promise<unknown>), left }
}

/** Calls `run()` of a bundle in a thread without the globals of Node. */
export async function runInWorker({ code }: BrowserBundle): Promise<BundleRun> {
  const kept = [...webGlobals, 'TextDecoder', 'TextEncoder']
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
    const language = new Set(Object.getOwnPropertyNames(require('node:vm').runInNewContext('globalThis')))
    const kept = new Set(${JSON.stringify(kept)})
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      if (!language.has(name) && !kept.has(name)) delete globalThis[name]
    }
    const left = ${JSON.stringify(nodeGlobals)}.filter((name) => name in globalThis)
    ;(0, eval)(${JSON.stringify(`${code}; globalThis.bundle = bundle`)})
    bundle.run().then((found) => parentPort.postMessage({ found, left }), (error) => { throw error })`,
    { eval: true },
  )
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  } finally {
    await worker.terminate()
  }
}

/** Calls `run()` of a bundle in workerd, without its compatibility with Node. */
export async function runInWorkerd({ code }: BrowserBundle): Promise<BundleRun> {
  await using directory = await createTiedDirectory('ws-workerd-')
  const script = `${code}
    const left = ${JSON.stringify(nodeGlobals)}.filter((name) => name in globalThis)
    export default { fetch: async () => Response.json({ found: await bundle.run(), left }) }`
  const miniflare = await startWorkerd(directory.path, { modules: true, script })
  try {
    const response = await miniflare.dispatchFetch('http://127.0.0.1/')
    return (await response.json()) as BundleRun
  } finally {
    await miniflare.dispose()
  }
}

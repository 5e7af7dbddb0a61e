import { chmod, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import type { Miniflare, MiniflareOptions } from 'miniflare'

import { findSystemProgram } from './components.ts'

/** Starts workerd, the runtime of Cloudflare's workers. Dispose it before its `directory`. */
export async function startWorkerd(directory: string, options: MiniflareOptions): Promise<Miniflare> {
  // late, since it is large and rarely needed
  const { Miniflare } = await import('miniflare')
  const workerd = await writeTiedWorkerd(directory)
  // read from the environment only. With threads, garbage collection can hang on one of them and serve no request.
  const create = () => {
    return new Miniflare({
      compatibilityDate: '2026-01-01',
      host: '127.0.0.1',
      cf: false,
      // needed to report a failed start; later they would hold clients that hung up
      handleRuntimeStdio(stdout: Readable, stderr: Readable) {
        stdout.resume()
        stderr.resume()
      },
      ...options,
    })
  }
  const miniflare = withVariable('TMPDIR', directory, () => withoutSignalHandlers(create))
  const ready = () => withVariable('MINIFLARE_WORKERD_V8_FLAGS', '--single-threaded-gc', () => miniflare.ready)
  await withVariable('MINIFLARE_WORKERD_PATH', workerd, ready)
  return miniflare
}

/**
 * A way to tie the server's process to this one, even by SIGKILL, if possible.
 * An interrupt only reaches this process, whose last writes may be on their way.
 */
async function writeTiedWorkerd(directory: string): Promise<string | undefined> {
  const [setpriv, setsid] = ['setpriv', 'setsid'].map(findSystemProgram)
  if (setpriv === undefined || setsid === undefined) return undefined
  const workerd = createRequire(createRequire(import.meta.url).resolve('miniflare'))('workerd') as { default: string }
  const path = join(directory, 'workerd')
  await writeFile(path, `#!/bin/sh\nexec '${setpriv}' --pdeathsig KILL '${setsid}' '${workerd.default}' "$@"\n`)
  await chmod(path, 0o755)
  return path
}

/** This process handles signals: miniflare would end it without cleanup. */
function withoutSignalHandlers<Result>(action: () => Result): Result {
  const names = ['SIGINT', 'SIGTERM'] as const
  const before = names.map((name) => process.listeners(name))
  const result = action()
  for (const [index, name] of names.entries()) {
    for (const listener of process.listeners(name)) {
      if (before[index]?.includes(listener) !== true) process.off(name, listener)
    }
  }
  return result
}

/** Sets a variable until the action's result has settled. */
function withVariable<Result>(name: string, value: string | undefined, action: () => Result): Result {
  if (value === undefined) return action()
  const before = process.env[name]
  const restore = () => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  }
  process.env[name] = value
  let result: Result
  try {
    result = action()
  } catch (error) {
    restore()
    throw error
  }
  if (result instanceof Promise) result.then(restore, restore)
  else restore()
  return result
}

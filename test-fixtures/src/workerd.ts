import { chmod, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import type { Miniflare, MiniflareOptions } from 'miniflare'

import { findSystemProgram } from './components.ts'

/** Starts workerd, the runtime of Cloudflare's workers. Dispose it before its `directory`. */
export async function startWorkerd(directory: string, options: MiniflareOptions): Promise<Miniflare> {
  // imported here, since it is large and rarely needed
  const { Miniflare } = await import('miniflare')
  const workerd = await writeTiedWorkerd(directory)
  // miniflare reads this from the environment only. With threads, garbage collection can hang in one of them and block all requests.
  const create = () => {
    return new Miniflare({
      compatibilityDate: '2026-01-01',
      host: '127.0.0.1',
      cf: false,
      // the streams show a failed start; later they would delay the end for clients that hung up
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
 * Ties the server's process to this process, even after SIGKILL, if possible.
 * An interrupt only reaches this process, since last writes may be in progress.
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

/** Runs an action without miniflare's signal handlers, which would exit without cleanup. This process handles signals. */
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

/** Sets a variable until the result of the action has settled. */
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

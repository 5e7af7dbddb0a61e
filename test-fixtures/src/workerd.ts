import { chmod, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import type { Miniflare, MiniflareOptions } from 'miniflare'

import { findSystemProgram } from './components.ts'

/** Starts workerd, the runtime of Cloudflare's workers, with its files in `directory`. To be disposed of before it. */
export async function startWorkerd(directory: string, options: MiniflareOptions): Promise<Miniflare> {
  // late, since it is large and most users of this package start none
  const { Miniflare } = await import('miniflare')
  const workerd = await writeTiedWorkerd(directory)
  // read from the environment only. With threads, a collection of garbage can wait for one of them for ever, and serves no request.
  const create = () => {
    return new Miniflare({
      compatibilityDate: '2026-01-01',
      host: '127.0.0.1',
      cf: false,
      // a failure to start is reported without them; later they hold each client that hung up
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
 * Where it can be had, a way to start the server's process such that it dies with this one, even by SIGKILL, and not
 * before. An interrupt at the terminal is for this process, whose last writes may still be on their way.
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

/** This process decides on signals: miniflare would end it at once, without any cleaning up. */
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

/** Runs `action` with a variable set in the environment, until what it returns has settled. */
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

import { Worker } from 'node:worker_threads'

import { execError } from '@ws/core/executor'

import type { WrapOrder, WrapperSetting, WrapReply } from './protocol.ts'

export interface Wrapper {
  /** Returns the program that runs a shell command under the lists. Call {@link Wrapper.ended} when it has ended or was not started. */
  wrap(order: Omit<WrapOrder, 'id'>): Promise<readonly string[]>
  ended(): void
  close(): Promise<void>
}

/** Starts a thread with a copy of the library of its own. Its variables are not those of this process. @throws if the library is missing */
export async function startWrapper(setting: WrapperSetting): Promise<Wrapper> {
  const isSource = import.meta.url.endsWith('.ts')
  const worker = new Worker(new URL(`./worker.${isSource ? 'ts' : 'js'}`, import.meta.url), {
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin', TMPDIR: setting.directory },
    argv: [],
    execArgv: ['--no-warnings', ...(isSource ? ['--conditions=@ws/source'] : [])],
    workerData: setting,
    stdout: true,
    stderr: true,
  })
  const waiting = new Map<number, PromiseWithResolvers<readonly string[]>>()
  const ready = Promise.withResolvers<void>()
  let lastId = 0
  let over: Error | undefined
  const fail = (native: unknown) => {
    over = execError('ENOEXEC', 'the library that confines commands ended', {
      remedy: 'open the workspace again',
      native,
    })
    ready.reject(native)
    for (const { reject } of waiting.values()) reject(over)
    waiting.clear()
  }
  worker.on('message', (reply: WrapReply | 'ready') => {
    if (reply === 'ready') {
      ready.resolve()
      return
    }
    const wanted = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (waiting.size === 0) worker.unref()
    if (reply.problem === undefined) wanted?.resolve(reply.argv)
    else wanted?.reject(notWrapped(reply.problem))
  })
  worker.on('error', fail)
  worker.on('exit', () => fail(new Error('the thread has ended')))
  await ready.promise
  // The thread keeps this process alive only while a caller waits for it.
  worker.unref()
  return {
    wrap(order) {
      if (over !== undefined) return Promise.reject(over)
      const id = ++lastId
      const wanted = Promise.withResolvers<readonly string[]>()
      waiting.set(id, wanted)
      worker.ref()
      worker.postMessage({ ...order, id } satisfies WrapOrder)
      return wanted.promise
    },
    ended: () => worker.postMessage('ended'),
    async close() {
      await worker.terminate()
    },
  }
}

function notWrapped(problem: string): Error {
  return execError('ENOEXEC', 'sandbox-runtime could not confine the command', {
    remedy: 'ask the executor’s probe what is missing',
    native: new Error(problem),
  })
}

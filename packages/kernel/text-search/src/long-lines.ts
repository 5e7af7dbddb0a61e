import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { LineRequest } from './worker.ts'

/** Maximum milliseconds for one line: `maxDuration` of processor time, `longestDuration` by the clock. */
const maxDuration = 200
const longestDuration = 2000
/** Milliseconds after which an idle thread ends. */
const idleDuration = 10_000
const maxIdle = 2

const idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout }[] = []

/** Returns the index of the first match in a long line, found by a thread; -1 if none; `undefined` if too slow. @throws `signal.reason` */
export async function findInLongLine(
  request: LineRequest,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  signal?.throwIfAborted()
  const worker = await takeWorker(signal)
  const stop = new AbortController()
  const either = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal])
  let answered = false
  try {
    const before = await worker.cpuUsage?.()
    const answer = once(worker, 'message', { signal: either }) as Promise<[number]>
    worker.postMessage(request)
    const answers = await Promise.race([answer, tookTooLong(worker, before, either)])
    answered = answers !== undefined
    return answers?.[0]
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    stop.abort()
    if (answered && idle.length < maxIdle) keep(worker)
    else void worker.terminate()
  }
}

/** Resolves when the thread has exceeded its time. Rejects only after an abort. */
async function tookTooLong(
  worker: Worker,
  before: NodeJS.CpuUsage | undefined,
  signal: AbortSignal,
): Promise<undefined> {
  for (let waited = 0; waited < longestDuration; waited += maxDuration) {
    await delay(maxDuration, undefined, { signal })
    // Uses the clock in older Node versions, which do not report a worker's processor time.
    const used = before === undefined ? undefined : await worker.cpuUsage(before)
    if (used === undefined || used.user + used.system > maxDuration * 1000) return
  }
}

async function takeWorker(signal: AbortSignal | undefined): Promise<Worker> {
  const kept = idle.pop()
  if (kept !== undefined) {
    clearTimeout(kept.timer)
    kept.worker.ref()
    return kept.worker
  }
  const name = import.meta.url.endsWith('.ts') ? 'worker.ts' : 'worker.js'
  const worker = new Worker(new URL(`./${name}`, import.meta.url), {
    // The thread gets no variables, arguments or options of this process.
    env: {},
    argv: [],
    execArgv: ['--no-warnings'],
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  })
  worker.on('error', () => undefined) // the caller handles the thread's exit
  try {
    await once(worker, 'message', { signal })
    return worker
  } catch (error) {
    void worker.terminate()
    signal?.throwIfAborted()
    throw error
  }
}

function keep(worker: Worker): void {
  const kept = {
    worker,
    timer: setTimeout(() => {
      idle.splice(idle.indexOf(kept), 1)
      void worker.terminate()
    }, idleDuration),
  }
  kept.timer.unref()
  worker.unref()
  idle.push(kept)
}

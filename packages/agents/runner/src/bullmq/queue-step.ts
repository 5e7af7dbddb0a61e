import { createHash } from 'node:crypto'

import { checkOptions, option } from '@ws/core/options'
import type { Job, QueueEvents } from 'bullmq'

import type { StepFunction, StepOutcome, StepRequest } from '../run/types.ts'
import { connectionOf, defaultQueue, type RedisConnection } from './connection.ts'
import { bullmq } from './peers.ts'

export interface QueueStepOptions {
  readonly connection: RedisConnection
  /** The name of the queue, which the workers use too. Default `ws-steps`. */
  readonly queue?: string | undefined
}

/** Milliseconds between checks of a job's state, in case Redis loses the message that the job has ended. */
const pollInterval = 5_000
const shapes = { connection: option.required(option.object), queue: option.text }
const removed = { pollInterval: 'leave it out: jobs are checked every 5 seconds' }

/** An object whose `step` is the option `step` of a run, and passes steps to workers. Close the object after the run. */
export interface QueueStep extends AsyncDisposable {
  readonly step: StepFunction
  close(): Promise<void>
}

/** Puts each attempt into a BullMQ queue and awaits its end. A lost job is queued again; the journal lets its files land only once. */
export function createQueueStep(given: QueueStepOptions): QueueStep {
  checkOptions<QueueStepOptions>(given, shapes, { operation: 'createQueueStep', removed })
  const { connection, queue: name = defaultQueue } = given
  const options = { connection: connectionOf(connection) }
  const queue = new bullmq.Queue<StepRequest, StepOutcome>(name, options)
  const events = new bullmq.QueueEvents(name, options)
  // The client reconnects by itself; without a listener, its errors would end the process.
  queue.on('error', () => undefined)
  events.on('error', () => undefined)
  // each waiting step adds a listener, and a run may wait for hundreds of steps
  queue.setMaxListeners(0)
  events.setMaxListeners(0)
  const close = async (): Promise<void> => {
    await events.close()
    await queue.close()
  }
  return {
    async step(_id, request) {
      for (;;) {
        const job = await queue.add('step', request, { jobId: jobIdOf(request), ...delivery })
        const outcome = await endOf(job, events)
        if (outcome !== undefined) return outcome
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

const delivery = {
  attempts: 20,
  backoff: { type: 'exponential', delay: 100 },
  removeOnComplete: { age: 24 * 3600 },
  removeOnFail: { age: 24 * 3600 },
} as const

/** The job id, equal for every delivery of one attempt. BullMQ allows no `:` in a job id. */
function jobIdOf({ runId, step, attempt }: StepRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([runId, step.id, attempt]))
    .digest('hex')
}

async function endOf(job: Job<StepRequest, StepOutcome>, events: QueueEvents): Promise<StepOutcome | undefined> {
  try {
    return await job.waitUntilFinished(events, pollInterval)
  } catch (error) {
    // a failed job has used up its deliveries; another state means that a message was lost, or that the wait timed out
    if ((await job.getState()) === 'failed') throw error
    return undefined
  }
}

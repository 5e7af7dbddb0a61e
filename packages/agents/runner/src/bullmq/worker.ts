import { checkOptions, option } from '@ws/core/options'
import type { StepOutcome, StepRequest } from '../run/types.ts'
import type { Runner } from '../runner.ts'
import { connectionOf, defaultQueue, type RedisConnection } from './connection.ts'
import { bullmq } from './peers.ts'

export interface StepWorkerOptions {
  readonly connection: RedisConnection
  /** A runner with the workspace, output and state of the run's own runner. The caller closes the runner. */
  readonly runner: Runner
  /** The name of the queue. Default `ws-steps`. */
  readonly queue?: string | undefined
  /** Limit of steps at the same time. Default 1. */
  readonly concurrency?: number | undefined
}

const needed = option.required(option.object)
const shapes = { connection: needed, runner: needed, queue: option.text, concurrency: option.integer(1) }
const removed = { lockDuration: 'leave it out: another worker takes the job after 30 seconds' }

export interface StepWorker extends AsyncDisposable {
  /** Accepts no further job, and waits for running jobs. */
  close(): Promise<void>
}

const leaseWait = 24 * 3_600_000

/**
 * Carries out steps from a queue. BullMQ may give the job of a silent worker to another worker, while the silent worker continues.
 * So each attempt first takes the runner's lease of its step, and reads in the journal whether its end is recorded.
 */
export function createStepWorker(options: StepWorkerOptions): StepWorker {
  checkOptions<StepWorkerOptions>(options, shapes, { operation: 'createStepWorker', removed })
  return takeSteps(options, 30_000)
}

/** @param lockDuration milliseconds after which BullMQ gives the job of a silent worker to another worker */
export function takeSteps(options: StepWorkerOptions, lockDuration: number): StepWorker {
  const { connection, runner, queue = defaultQueue, concurrency = 1 } = options
  const worker = new bullmq.Worker<StepRequest, StepOutcome>(
    queue,
    async ({ data }) => {
      const { runId, step } = data
      await using lease = await runner.leases.acquire(`steps/${runId}/${step.id}`, { wait: leaseWait })
      return await runner.executeStep(data, { signal: lease.lost })
    },
    // BullMQ gives a job whose worker died to another worker, until the deliveries of the job are used up
    {
      connection: connectionOf(connection),
      concurrency,
      lockDuration,
      stalledInterval: lockDuration,
      maxStalledCount: 20,
    },
  )
  worker.on('error', () => undefined) // the client reconnects; an error without a listener would end the process
  const close = async (): Promise<void> => worker.close()
  return { close, [Symbol.asyncDispose]: close }
}

import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

import { defineStepType } from '@ws/runner'
import type { StepTypes } from '../../src/types/types.ts'
import { z } from 'zod'

/** Types that note each start in a file. */
export function queueTypes(log: string): StepTypes {
  return {
    work: defineStepType({
      settings: z.strictObject({}),
      async run(_, context) {
        appendFileSync(log, `${context.stepId} ${process.pid}\n`)
        await delay(5)
        await context.write(`${context.stepId}.txt`, `${context.stepId}\n`)
        return { worker: process.pid }
      },
    }),
    /** Holds the event loop, so that the worker cannot renew its lock. */
    block: defineStepType({
      settings: z.strictObject({ milliseconds: z.int() }),
      async run({ milliseconds }, context) {
        appendFileSync(log, `${context.stepId} ${process.pid}\n`)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
        await context.write(`${context.stepId}.txt`, 'once\n')
        return { worker: process.pid }
      },
    }),
  }
}

// Runs a plan on a bucket in a process of its own, which a test kills. Arguments: an `S3Connection` as JSON, log, the number
// of steps, `resume`.
import { appendFileSync } from 'node:fs'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createRunner, defineStepType } from '@ws/runner'
import { z } from 'zod'

import { crashPlanOf } from './plan.ts'

const [, , connection = '', log = '', steps = '', mode] = process.argv
const { endpoint, region, credentials, bucket } = JSON.parse(connection)

const work = defineStepType({
  settings: z.strictObject({ name: z.string(), files: z.int() }),
  async run({ name, files }, context) {
    appendFileSync(log, `${context.stepId}\n`)
    await context.write(`${name}/0.txt`, `${name} of ${files}\n`)
    process.stdout.write(`${context.stepId}\n`)
    return { files }
  },
})

await using output = await createS3Adapter({ endpoint, region, credentials, bucket, prefix: 'team/out' })
await using state = await createS3Adapter({ endpoint, region, credentials, bucket, prefix: 'team/state' })
await using runner = await createRunner({ workspace: createMemoryAdapter(), output, state, types: { work } })
const { state: end } = await runner.run(crashPlanOf(Number(steps)), { resume: mode === 'resume', wait: 0 })
process.stdout.write(`run ${end}\n`)

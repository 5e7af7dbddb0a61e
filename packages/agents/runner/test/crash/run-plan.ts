// Runs the plan of 30 steps in a process of its own, which a test kills. Arguments: workspace, output, state, log, `resume`.
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

import { createRunner, defineStepType } from '@ws/runner'
import { z } from 'zod'

import { crashPlan } from './plan.ts'

const [, , workspace = '', output = '', state = '', log = '', mode] = process.argv

const work = defineStepType({
  settings: z.strictObject({ name: z.string(), files: z.int() }),
  async run({ name, files }, context) {
    appendFileSync(log, `${context.stepId}\n`)
    for (let index = 0; index < files; index += 1)
      await context.write(`${name}/${index}.txt`, `${name} ${index}\n`.repeat(200))
    await delay(4)
    return { files }
  },
})

await using runner = await createRunner({ workspace, output, state, types: { work } })
process.stdout.write('ready\n')
const { state: end } = await runner.run(crashPlan, { resume: mode === 'resume' })
process.stdout.write(`${end}\n`)

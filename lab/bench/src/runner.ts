import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createRunner, defineStepType, type Runner } from '@ws/runner'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { z } from 'zod'

import { type Measurement, own, type Report, summary } from './measure.ts'

const section = 'runner'
const emptySteps = 2_000
const commandSteps = 1_000
const atOnce = 8
const rounds = 5

export async function measureRunner(report: Report): Promise<void> {
  await using scratch = await createScratchDirectory({ owner: ordinaryOwner() })
  await using runner = await createRunner({
    workspace: await scratch.createDirectory('workspace'),
    output: await scratch.createDirectory('output'),
    state: `${scratch.path}/state`,
    executors: [createBubblewrapExecutor()],
    types: { nothing: defineStepType({ settings: z.strictObject({}), run: async () => undefined }) },
  })
  report(await measureEmpty(runner))
  report(await measureCommands(runner))
}

async function measureEmpty(runner: Runner): Promise<Measurement> {
  const steps = Array.from({ length: emptySteps }, (_, index) => ({ id: `s${index}`, type: 'nothing' }))
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now()
    await runner.run({ version: 1, steps }, { force: true })
    times.push((performance.now() - began) / emptySteps)
  }
  const figures = [summary(own, times)]
  return { section, name: `a step of no work, of ${emptySteps}`, against: 'ms', target: 1, figures }
}

async function measureCommands(runner: Runner): Promise<Measurement> {
  const step = { type: 'command', with: { run: 'sleep 0.1' } }
  const steps = Array.from({ length: commandSteps }, (_, index) => ({ id: `c${index}`, ...step }))
  const began = performance.now()
  await runner.run({ version: 1, concurrency: atOnce, steps }, { force: true })
  const took = performance.now() - began
  const records = (await runner.history())?.records ?? []
  const busy = records.reduce((sum, { report }) => sum + report.endedAt - report.startedAt, 0) / took
  const figures = [summary(own, [busy])]
  return { section, name: `commands at once, of ${commandSteps} steps on ${atOnce}`, against: 'commands', figures }
}

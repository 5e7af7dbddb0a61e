import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createRunner, defineStepType } from '@ws/runner'
import { describeWith } from '@ws/test-fixtures'
import { watchRequests } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'

describeWith(s3Needs('r2'), 'requests of a run on a bucket', () => {
  it('are as few as the README says', async () => {
    const server = await sharedS3Server('r2')
    onTestFinished(() => server.close())
    const client = server.client({ maxAttempts: 1 })
    const sent = watchRequests(client)
    const { bucket } = server
    await using output = await createS3Adapter({ client, bucket, prefix: 'out' })
    await using state = await createS3Adapter({ client, bucket, prefix: 'state' })
    const nothing = defineStepType({ settings: z.strictObject({}), run: async () => undefined })
    const write = defineStepType({
      settings: z.strictObject({ to: z.string() }),
      async run({ to }, context) {
        await context.write(to, to)
      },
    })
    const types = { nothing, write }
    await using runner = await createRunner({ workspace: createMemoryAdapter(), output, state, types })
    const idle = (id: string) => ({ id, type: 'nothing', with: {} })
    const writing = (id: string) => ({ id, type: 'write', with: { to: id }, outputs: [id] })
    /** Requests of a run with steps of these ids. */
    const run = async (ids: readonly string[], step: (id: string) => object): Promise<number> => {
      sent.length = 0
      expect((await runner.run({ version: 1, steps: ids.map(step) })).state).toBe('done')
      return sent.length
    }
    const counts: Record<string, number> = {}
    await run(['begin'], idle)
    for (const step of [idle, writing]) {
      const [first, ...others] = ['a', 'b', 'c', 'd'].map((id) => `${step.name}-${id}`)
      const one = await run([first ?? ''], step)
      // a run reads each state that has landed, and looks at no output of an idle step
      counts[`a new ${step.name} step`] = ((await run(others, step)) - one - 1) / 2
      const again = await run([first ?? ''], step)
      counts[`${step.name} again`] = ((await run(others, step)) - again) / 2
    }
    expect(counts).toEqual({
      'a new idle step': 8,
      'idle again': 3,
      'a new writing step': 44,
      'writing again': 9,
    })
  })
})

import type { RunningCommand } from '@ws/core'
import { expect, it } from 'vitest'
import { HeldWork } from '../../src/executor/attach-driver.ts'

/** A command that ends when it is disposed. */
function makeRunning() {
  const { promise, resolve } = Promise.withResolvers<never>()
  let disposals = 0
  const running = {
    wait: () => promise,
    async [Symbol.asyncDispose]() {
      disposals += 1
      resolve(undefined as never)
    },
  } as unknown as RunningCommand
  return { running, disposals: () => disposals }
}

it('ends while a start does not answer, which then may start nothing', async () => {
  const work = new HeldWork()
  const { promise: answer, resolve } = Promise.withResolvers<RunningCommand>()
  let given: AbortSignal | undefined
  const held = work.hold((signal) => {
    given = signal
    return answer
  })
  const start = performance.now()
  await expect(work.end()).rejects.toMatchObject({ code: 'ETIMEDOUT', operation: 'close' })
  expect(performance.now() - start).toBeLessThan(3_000)
  expect(given?.reason).toMatchObject({ code: 'ECLOSED' })

  const { running, disposals } = makeRunning()
  resolve(running)
  await expect(held).rejects.toMatchObject({ code: 'ECLOSED' })
  expect(disposals()).toBeGreaterThan(0)
})

it('ends what runs, and what a start that answers in time has started', async () => {
  const work = new HeldWork()
  const first = makeRunning()
  await work.hold(async () => first.running)
  const second = makeRunning()
  const held = work.hold(async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    return second.running
  })
  const refused = expect(held).rejects.toMatchObject({ code: 'ECLOSED' })
  await work.end()
  await refused
  expect([first.disposals() > 0, second.disposals() > 0]).toEqual([true, true])
  await expect(work.hold(async () => first.running)).rejects.toMatchObject({ code: 'ECLOSED' })
})

import { createMemoryAdapter } from '@ws/adapter-memory'
import { observe } from '@ws/core'
import { defineAdapter, keyValueDriver } from '@ws/core/adapter'
import { describe, expect, it } from 'vitest'

import { collectTests, faults, testAdapter, type TestOutcome } from '@ws/conformance'

/** The tests whose titles say so, on an adapter with the fault. */
async function runKit({ apply, caughtBy }: Pick<faults.Fault, 'apply' | 'caughtBy'>): Promise<TestOutcome[]> {
  const tests = collectTests((runner) => {
    const create = (): { adapter: ReturnType<typeof apply>; seed: ReturnType<typeof apply> } => {
      const seed = createMemoryAdapter()
      // the layer is a plain object of functions, which a fault can take apart
      return { adapter: apply(observe(seed, () => undefined, { shared: true })), seed }
    }
    testAdapter({ name: 'broken', create }, runner)
  })
  const outcomes: TestOutcome[] = []
  for (const test of tests) if (test.title.includes(caughtBy)) outcomes.push(await test.run())
  return outcomes
}

describe('the kit', () => {
  it.each(faults.adapters)('catches an adapter that $name', async (fault) => {
    const outcomes = await runKit(fault)
    expect(outcomes.filter(({ state }) => state === 'failed').length).toBeGreaterThan(0)
    // the very same tests pass without the fault: they fail for it, and for nothing else
    const sound = await runKit({ ...fault, apply: (adapter) => adapter })
    expect(sound.filter(({ state }) => state === 'failed')).toEqual([])
  })

  it('names every fault, and the test that catches it, once', () => {
    expect(new Set(faults.adapters.map(({ name }) => name)).size).toBe(faults.adapters.length)
  })

  it('shows the error that the code of an adapter threw', async () => {
    const keys = (): never => {
      throw new Error('the disk is gone')
    }
    const store = { get: () => undefined, set: () => undefined, delete: () => undefined, keys }
    const tests = collectTests((runner) => {
      testAdapter({ name: 'broken', create: () => ({ adapter: defineAdapter(keyValueDriver(store)) }) }, runner)
    })
    const outcome = await tests.find(({ title }) => title.includes('stat'))?.run()
    expect(String(outcome?.error)).toContain('threw a foreign error')
    expect(String(outcome?.error)).toContain('the disk is gone')
  })

  it('counts what it skips, each with a capability, the fixture or the adapter as the reason', async () => {
    const tests = collectTests((runner) => {
      const create = (): { adapter: ReturnType<typeof createMemoryAdapter> } => ({ adapter: createMemoryAdapter() })
      testAdapter({ name: 'memory', create }, runner)
    })
    const outcomes = await Promise.all(tests.map((test) => test.run()))
    const skipped = outcomes.filter(({ state }) => state === 'skipped')
    expect(skipped.length).toBeGreaterThan(0)
    expect(
      skipped.every(({ reason }) => /^capability [a-zA-Z]+: |^the (?:fixture|adapter) has no /u.test(reason ?? '')),
    ).toBe(true)
    expect(outcomes.filter(({ state }) => state === 'failed')).toEqual([])
  })
})

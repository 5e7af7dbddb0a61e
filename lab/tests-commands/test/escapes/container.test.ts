/** @module-tag all */
import { createContainerExecutor } from '@ws/executor-machine/container'
import { component, deep, describeWith, openEngine } from '@ws/test-fixtures'
import { afterAll, expect, it } from 'vitest'

import { attempts } from '../../src/escapes/attempts.ts'
import { misdeclared } from '../../src/escapes/judge.ts'
import { runEscapes } from '../../src/escapes/run.ts'

const shared = new Set(attempts.filter((attempt) => attempt.shared === true).map(({ name }) => name))

describeWith([component('dockerd'), component('python3'), component('cc')], 'escapes: a container', async () => {
  const engine = await openEngine(['python3', 'libc-bin'])
  afterAll(() => engine[Symbol.asyncDispose]())

  it('[LS11, PC13] end as the guarantees declare, field by field', { timeout: 240_000 }, async () => {
    const create = () => createContainerExecutor({ engine: engine.address, image: engine.image })
    const column = { name: 'container at /workspace', root: '/workspace', components: [], create } as const
    const report = await runEscapes(column, { raceTime: deep ? 2_500 : 300 })
    expect(report.guarantees.processes).toBe('kernel')
    expect(report.unfinished).toEqual([])
    expect(misdeclared(report)).toEqual([])
    expect([...report.reached].filter((name) => !shared.has(name))).toEqual([])
  })
})

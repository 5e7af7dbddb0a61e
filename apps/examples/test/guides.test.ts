import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { Runner } from '@ws/runner'
import type { RunResult } from '@ws/runner/run-plan'
import type { Inngest } from 'inngest'
import { describe, expect, expectTypeOf, it, vi } from 'vitest'

import type { createPlanFunction } from './guides/inngest-function.ts'
import type { planWorkflow } from './guides/temporal-workflow.ts'
import { extractExamples } from './readme/extract.ts'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const blocksOf = (guide: string) => extractExamples(read(`docs/guides/${guide}`)).map(({ code }) => code)
const dense = (text: string) => text.split('\n').filter((line) => line.trim() !== '')

const linesOf = (path: string) => dense(read(`apps/examples/test/guides/${path}`))
const isCode = (line: string) => !/^\s*(?:\/\/|\/\*\*)/u.test(line)

describe('the guides', () => {
  it('write-an-adapter: its code is that of the adapters that the kit is run on, all of it and in order', () => {
    const [test = '', map = '', use = '', sqlite = '', ...tree] = blocksOf('write-an-adapter.md')
    expect(linesOf('adapters.test.ts')).toEqual(expect.arrayContaining(dense(test)))
    expect(dense(map)).toEqual(linesOf('map-adapter.ts'))
    expect(dense(use)).toEqual(linesOf('use-map-adapter.ts'))
    expect(dense(sqlite)).toEqual(linesOf('sqlite-adapter.ts'))
    expect(dense(tree.join('\n'))).toEqual(linesOf('tree-adapter.ts'))
  })

  it('write-an-adapter: the adapters take no more lines of code than it says', () => {
    for (const path of ['map-adapter.ts', 'sqlite-adapter.ts']) {
      expect(linesOf(path).filter(isCode).length).toBeLessThanOrEqual(20)
    }
    expect(linesOf('tree-adapter.ts').filter(isCode).length).toBeLessThanOrEqual(180)
  })

  it('write-an-adapter: its use prints what it says', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue()
    await import('./guides/use-map-adapter.ts')
    expect(log.mock.calls.flat()).toEqual(['/workspace/archive', '/workspace/archive/a.md'])
    log.mockRestore()
  })

  it('write-an-executor: its test and its code are those that run, all of them and in order', () => {
    const [test = '', ...blocks] = blocksOf('write-an-executor.md')
    const [, ...lines] = linesOf('jail-executor.test.ts') // the first one names its tier
    expect(dense(test)).toEqual(lines)
    expect(dense(blocks.join('\n'))).toEqual(linesOf('jail-executor.ts'))
  })

  it('run-plans: its code for Temporal and Inngest is the one whose types are checked', () => {
    const [temporal = '', inngest = ''] = blocksOf('run-plans.md')
    expect(dense(temporal)).toEqual(linesOf('temporal-workflow.ts'))
    expect(dense(inngest)).toEqual(linesOf('inngest-function.ts'))
    expectTypeOf<typeof planWorkflow>().returns.resolves.toEqualTypeOf<RunResult>()
    expectTypeOf<typeof createPlanFunction>().parameters.toEqualTypeOf<[Inngest, Runner]>()
  })

  it('run-plans: code for workflows imports nothing that runs', () => {
    const sources = ['run-plan.ts', 'run/run-plan.ts'].map((path) => read(`packages/agents/runner/src/${path}`))
    const imported = sources.flatMap((text) => [...text.matchAll(/^(?:im|ex)port (?!type).* from '([^']+)'/gmu)])
    expect(imported.map(([, from]) => from)).toEqual(['./run/run-plan.ts'])
  })

  it('test-code-that-uses-node-fs: its code is that which runs, in Vitest and in node:test', async () => {
    const [code = '', inVitest = '', inNode = ''] = blocksOf('test-code-that-uses-node-fs.md')
    expect(dense(code)).toEqual(linesOf('report.ts'))
    const [, ...lines] = linesOf('report.isolated.test.ts') // the first one names its tier
    expect(dense(inVitest)).toEqual(lines)
    expect(dense(inNode)).toEqual(linesOf('report.node-test.ts'))
    const flags = ['--conditions=@ws/source', '--experimental-test-module-mocks', '--test']
    const file = join(root, 'apps/examples/test/guides/report.node-test.ts')
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, file])
    expect(stdout).toContain('pass 1')
  })

  it('write-an-executor: the executor takes no more than 60 lines', () => {
    expect(linesOf('jail-executor.ts').length).toBeLessThanOrEqual(60)
  })
})

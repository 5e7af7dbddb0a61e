import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { extractExamples } from '../readme/extract.ts'

const root = join(import.meta.dirname, '../../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const kit = 'packages/conformance/test'
const blocksOf = (guide: string) => extractExamples(read(`docs/guides/${guide}`)).map(({ code }) => code)
const dense = (text: string) => text.split('\n').filter((line) => line.trim() !== '')

describe('the guides', () => {
  it('write-an-adapter: its code is the adapter that the kit is run on, all of it and in order', () => {
    const [, ...blocks] = blocksOf('write-an-adapter.md')
    expect(dense(blocks.join('\n'))).toEqual(dense(read(`${kit}/guide/map-adapter.ts`)))
  })

  it('write-an-adapter: the adapter takes no more than 150 lines of code', () => {
    const code = dense(read(`${kit}/guide/map-adapter.ts`)).filter((line) => !/^\s*(?:\/\/|\/\*\*)/u.test(line))
    expect(code.length).toBeLessThanOrEqual(150)
  })

  it('write-an-adapter: its test is the one that runs', () => {
    const [test = ''] = blocksOf('write-an-adapter.md')
    const own = read(`${kit}/guide/map-adapter.test.ts`).replace('../../src/vitest.ts', '@ws/conformance/vitest')
    expect(dense(test)).toEqual(dense(own))
  })

  it('write-an-executor: its test and its code are those that run, all of them and in order', () => {
    const [test = '', ...blocks] = blocksOf('write-an-executor.md')
    const own = read(`${kit}/guide/jail-executor.test.ts`)
      .replace('../../src/index.ts', '@ws/conformance')
      .replace('../../src/vitest.ts', '@ws/conformance/vitest')
    expect(dense(test)).toEqual(dense(own))
    expect(dense(blocks.join('\n'))).toEqual(dense(read(`${kit}/guide/jail-executor.ts`)))
  })

  it('write-an-executor: the executor takes no more than 150 lines of code', () => {
    const code = dense(read(`${kit}/guide/jail-executor.ts`)).filter((line) => !/^\s*(?:\/\/|\/\*\*)/u.test(line))
    expect(code.length).toBeLessThanOrEqual(150)
  })
})

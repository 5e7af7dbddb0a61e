import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { extractExamples } from '../readme/extract.ts'

const root = join(import.meta.dirname, '../../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const kit = 'packages/conformance/test'
const blocksOf = (guide: string) => extractExamples(read(`docs/guides/${guide}`)).map(({ code }) => code)
const dense = (text: string) => text.split('\n').filter((line) => line.trim() !== '')

const linesOf = (path: string) => dense(read(`${kit}/guide/${path}`))
const isCode = (line: string) => !/^\s*(?:\/\/|\/\*\*)/u.test(line)

describe('the guides', () => {
  it('write-an-adapter: its code is that of the adapters that the kit is run on, all of it and in order', () => {
    const [test = '', map = '', use = '', sqlite = '', ...tree] = blocksOf('write-an-adapter.md')
    const tests = linesOf('adapters.test.ts').map((line) =>
      line.replace('../../src/vitest.ts', '@ws/conformance/vitest'),
    )
    expect(tests).toEqual(expect.arrayContaining(dense(test)))
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
    await import('./use-map-adapter.ts')
    expect(log.mock.calls.flat()).toEqual(['/archive', '/archive/a.md'])
    log.mockRestore()
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
    expect(linesOf('jail-executor.ts').filter(isCode).length).toBeLessThanOrEqual(150)
  })
})

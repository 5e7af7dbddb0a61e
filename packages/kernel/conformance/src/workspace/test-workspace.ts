import { checkSuite } from '../options/check.ts'
import type { Runner } from '../runner.ts'
import { securityFiles } from '../security/security-suite.ts'
import { auditTests } from './audit.ts'
import { editingTests } from './editing.ts'
import { endTests } from './ends.ts'
import { followingTests } from './following.ts'
import { globTests } from './globs.ts'
import { nameTests } from './names.ts'
import type { WorkspaceSuiteOptions } from '../options/workspace.ts'
import { pathTests } from './paths.ts'
import { programTests } from './programs.ts'
import { sameFilesTests } from './same-files.ts'
import { defineDoors, type DoorSuite } from '../doors/suite.ts'
import { equal } from '../assert.ts'

const files = [
  sameFilesTests,
  pathTests,
  nameTests,
  readingTests,
  endTests,
  followingTests,
  globTests,
  editingTests,
  programTests,
  auditTests,
  ...securityFiles,
]

export function testWorkspace(options: WorkspaceSuiteOptions, runner: Runner): void {
  checkSuite('testWorkspace', 'workspace', options)
  defineDoors('the two doors', options, runner, files)
}

function readingTests({ describe, test }: DoorSuite): void {
  describe('reading', () => {
    test('[PC25] by window counts lines from 0 and defines every edge', {}, async (it) => {
      const site = await it.open()
      await site.run(`printf '' > empty; printf 'a\\nb\\nc' > abc; printf 'a\\nb\\n' > end; seq 1 2001 > many`)
      const window = async (path: string, options = {}): Promise<unknown> => {
        const { lines, offset, nextOffset } = await site.workspace.readLines(path, options)
        return { lines, offset, nextOffset }
      }
      equal(await window('empty'), { lines: [], offset: 0 }, 'an empty file')
      equal(await window('abc'), { lines: ['a', 'b', 'c'], offset: 0 }, 'without a final newline')
      equal(await window('abc', { offset: 1, limit: 1 }), { lines: ['b'], offset: 1, nextOffset: 2 }, 'a window')
      equal(await window('abc', { offset: 9 }), { lines: [], offset: 3 }, 'behind the end')
      equal(await window('end', { limit: 2 }), { lines: ['a', 'b'], offset: 0 }, 'up to the final newline')
      const { lines, nextOffset } = await site.workspace.readLines('many')
      equal([lines.length, lines.at(-1), nextOffset], [2000, '2000', 2000], 'the default window')
    })

    test('[PC24] of large files takes any size', {}, async (it) => {
      const site = await it.open()
      await site.workspace.write('big.txt', 'x'.repeat(3_000_000))
      equal((await site.run('wc -c < big.txt')).trim(), '3000000', 'the size in a command')
    })
  })
}

import { execFile } from 'node:child_process'
import { chown, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { component, createScratchDirectory, itWith } from '@ws/test-fixtures'
import { describe, expect } from 'vitest'

const run = promisify(execFile)

describe('on a local disk', () => {
  itWith(
    component('strace'),
    'a durable write syncs the file and its directories; a flush and a durable command sync the file system',
    async () => {
      await using scratch = await createScratchDirectory()
      const [trace, root] = [join(scratch.path, 'trace'), join(scratch.path, 'root')]
      await mkdir(root)
      if (process.getuid?.() === 0) await chown(root, 65_534, 65_534)
      const program = [process.execPath, '--conditions=@ws/source', join(import.meta.dirname, 'work.ts'), root]
      const calls = 'trace=chdir,fsync,fdatasync,sync,syncfs'
      await run('strace', ['-f', '-qq', '-y', '-s', '200', '-e', calls, '-e', 'signal=none', '-o', trace, ...program])
      const temporary = expect.stringMatching(/^fsync \/a\/b\/\.ws-tmp-\S+$/)
      expect(stepsOf(await readFile(trace, 'utf8'), root)).toEqual([
        ['plain'],
        ['durable', temporary, 'fsync /a/b', 'fsync /a', 'fsync /'],
        ['flush', 'syncfs /'],
        ['command', 'syncfs /'],
        ['close'],
      ])
    },
    { tags: 'deep' },
  )
})

/** The calls that succeeded, by the step in which they were made. */
function stepsOf(trace: string, root: string): string[][] {
  const steps: string[][] = []
  for (const line of trace.split('\n')) {
    const step = /chdir\("\/step-(\w+)"/.exec(line)?.[1]
    if (step !== undefined) steps.push([step])
    // a call that another thread interrupts is printed in two lines: the first has the name, and no later one fails
    const [, call, path] = /(f?sync|fdatasync|syncfs)\(\d*<?([^>)]*)/.exec(line) ?? []
    if (call === undefined || path === undefined || line.includes('= -1')) continue
    steps.at(-1)?.push(`${call} ${path.replace(root, '') || '/'}`)
  }
  return steps
}

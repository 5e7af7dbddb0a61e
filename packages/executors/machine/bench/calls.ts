// Calls and times of commands on a machine that is some milliseconds away: node --conditions=@ws/source bench/calls.ts [files…]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { createMachineExecutor } from '@ws/executor-machine'
import { createScratchDirectory, give } from '@ws/test-fixtures'

import { createLocalMachine } from '../test/local-machine.ts'

const counts = process.argv.slice(2).map(Number)
console.log('| files | ms away | form | first | next | both sides changed one | 50 new there |')
console.log('| ---: | ---: | --- | ---: | ---: | ---: | ---: |')
for (const count of counts.length > 0 ? counts : [10, 200, 2_000, 20_000]) {
  for (const latency of [0, 20, 80]) {
    for (const hasInput of [true, false]) await measure(count, latency, hasInput)
  }
}

async function measure(count: number, latency: number, hasInput: boolean): Promise<void> {
  await using scratch = await createScratchDirectory()
  const root = join(scratch.path, 'machine')
  mkdirSync(root)
  give(root)
  const machine = createLocalMachine({ owner: scratch.owner, latency, hasInput })
  const file = (_: unknown, index: number) => [`/d${index % 10}/f${index}.txt`, 'x'.repeat(1_000)]
  const files = Object.fromEntries(Array.from({ length: count }, file)) as Record<string, string>
  await using workspace = await createWorkspace({
    mounts: [{ at: root, adapter: () => createMemoryAdapter({ files }) }],
    executors: [createMachineExecutor(machine)],
  })
  const cells: string[] = []
  async function run(command: string): Promise<void> {
    machine.calls.length = 0
    const begun = performance.now()
    const { exitCode, stderr } = await workspace.exec(command, { timeout: 600_000 })
    if (exitCode !== 0) throw new Error(stderr)
    cells.push(`${machine.calls.length} calls, ${Math.round(performance.now() - begun)} ms`)
  }
  await run('true')
  await run('true')
  await workspace.write(`${root}/d1/mine`, 'mine')
  await run('echo theirs > d0/f0.txt')
  await run('for i in $(seq 50); do echo $i > new$i; done')
  const form = hasInput ? 'one stream' : 'no input'
  console.log(`| ${count} | ${latency} | ${form} | ${cells.join(' | ')} |`)
}

// Forks, changes the fork and merges without end, for tests that kill this process. Prints a line before each step.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'

import { createCheckpoints } from '../../src/index.ts'
import { treeOf } from './tree-of.ts'

const [root = '', beside = '', stateDirectory = '', seed = '1'] = process.argv.slice(2)
const workspace = await createWorkspace({
  mounts: [{ at: '/', adapter: () => createLocalAdapter({ root }) }],
  checkpoints: createCheckpoints({ stateDirectory }),
})

function change(top: string, turn: number): void {
  for (let file = 0; file < 40; file += 1)
    writeFileSync(join(top, `f${file}`), `${turn} ${file}\n`.repeat(1 + (file % 5) * 3_000))
  rmSync(join(top, `f${turn % 40}`))
  rmSync(join(top, `d${(turn + 1) % 3}`), { recursive: true, force: true })
  mkdirSync(join(top, `d${turn % 3}/deep`), { recursive: true })
  writeFileSync(join(top, `d${turn % 3}/deep/file`), `${turn}\n`)
  rmSync(join(top, 'link'), { force: true })
  symlinkSync(`f${turn % 40}`, join(top, 'link'))
}

const mark = process.pid.toString(36)
const tell = (step: object): void => void process.stdout.write(`${JSON.stringify(step)}\n`)

change(root, Number(seed) * 1_000)
for (let turn = Number(seed) * 1_000 + 1; ; turn += 1) {
  const directory = join(beside, `fork-${turn}`)
  const before = treeOf(root)
  tell({ before, after: before, directory, mark })
  await (await workspace.fork()).close()
  await using fork = await workspace.fork({ directory })
  change(directory, turn)
  tell({ before, after: treeOf(directory), directory, mark, isForked: true })
  await workspace.merge(fork)
  await fork.close()
  rmSync(directory, { recursive: true })
}

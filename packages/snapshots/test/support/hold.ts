// Holds a state directory open until it is ended, or takes and restores checkpoints without end: for tests that kill it.
import { randomBytes } from 'node:crypto'
import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'

import { createCheckpoints } from '../../src/index.ts'

const [mode = '', root = '', stateDirectory = ''] = process.argv.slice(2)
const workspace = await createWorkspace({
  mounts: [{ at: '/', adapter: () => createLocalAdapter({ root }) }],
  // so little that collections take place all the time
  checkpoints: createCheckpoints({ stateDirectory, maxBytes: mode === 'work' ? 3_000_000 : undefined }),
})
const { id } = await workspace.checkpoint({ label: 'first' })
console.log('ready')
if (mode === 'hold') setInterval(() => undefined, 1_000)
/** Puts a whole file in the place of one: a write in place would be cut by the end of this process. */
function replace(name: string): void {
  const made = join(dirname(stateDirectory), name)
  writeFileSync(made, `new ${name} ${randomBytes(20_000).toString('hex')}\n`)
  renameSync(made, join(root, name))
}

for (let turn = 0; mode === 'work'; turn += 1) {
  const names = readdirSync(root).filter((one) => one.startsWith('file'))
  if (turn % 2 === 0) for (const name of names) replace(name)
  if (turn % 2 === 0) await workspace.checkpoint()
  else await workspace.restore((await workspace.checkpoints())[0]?.id ?? id)
  console.log(turn)
}

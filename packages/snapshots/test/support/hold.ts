// Holds a state directory open until it is ended, or takes and restores checkpoints without end: for tests that kill it.
import { randomBytes } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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
for (let turn = 0; mode === 'work'; turn += 1) {
  for (const name of readdirSync(root).filter((one) => one.startsWith('file')))
    if (turn % 2 === 0) writeFileSync(join(root, name), `new ${name} ${randomBytes(20_000).toString('hex')}\n`)
  if (turn % 2 === 0) await workspace.checkpoint()
  else await workspace.restore((await workspace.checkpoints())[0]?.id ?? id)
  console.log(turn)
}

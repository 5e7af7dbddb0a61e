// Holds a state directory open until it is ended, or takes and restores checkpoints without end: for tests that kill it.
import { randomBytes } from 'node:crypto'
import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createS3Adapter, type S3AdapterOptions } from '@ws/adapter-s3'
import { createWorkspace } from '@ws/core'

import { createCheckpoints } from '../../src/index.ts'

const [mode = '', root = '', stateDirectory = ''] = process.argv.slice(2)
const isBucket = root.startsWith('{')
const open = () => (isBucket ? createS3Adapter(JSON.parse(root) as S3AdapterOptions) : createLocalAdapter({ root }))
const workspace = await createWorkspace({
  mounts: [{ at: '/', adapter: open }],
  // so little that collections take place all the time
  checkpoints: createCheckpoints({ stateDirectory, maxBytes: mode === 'work' ? 3_000_000 : undefined }),
})
const { id } = await workspace.checkpoint({ label: 'first' })
console.log('ready')
if (mode === 'hold') setInterval(() => undefined, 1_000)
/** Puts a whole file in the place of one: a write in place would be cut by the end of this process. */
async function replace(name: string): Promise<unknown> {
  const text = `new ${name} ${randomBytes(20_000).toString('hex')}\n`
  if (isBucket) return workspace.write(`/${name}`, text)
  const made = join(dirname(stateDirectory), name)
  writeFileSync(made, text)
  return renameSync(made, join(root, name))
}

async function names(): Promise<string[]> {
  if (!isBucket) return readdirSync(root).filter((one) => one.startsWith('file'))
  const found: string[] = []
  for await (const { path } of workspace.list('/')) found.push(path.slice(1))
  return found
}

for (let turn = 0; mode === 'work'; turn += 1) {
  if (turn % 2 === 0) for (const name of await names()) await replace(name)
  if (turn % 2 === 0) await workspace.checkpoint()
  else await workspace.restore((await workspace.checkpoints())[0]?.id ?? id)
  console.log(turn)
}

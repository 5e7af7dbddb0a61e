// Tries, keeps and drops without end, for tests that kill this process. Prints before each step the trees of which one must be there after.
import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createS3Adapter, type S3AdapterOptions } from '@ws/adapter-s3'
import { createWorkspace, type Workspace } from '@ws/core'

import { createCheckpoints } from '../../src/index.ts'
import { randomOf } from './random.ts'
import { storeTreeOf, treeOf } from './tree-of.ts'

const [root = '', stateDirectory = '', seed = '1'] = process.argv.slice(2)
const random = randomOf(Number(seed))
const at = (path: string): string => join(root, path)
const isBucket = root.startsWith('{')
const open = () => (isBucket ? createS3Adapter(JSON.parse(root) as S3AdapterOptions) : createLocalAdapter({ root }))
const workspace = await createWorkspace({
  mounts: [{ at: '/', adapter: open }],
  checkpoints: createCheckpoints({ stateDirectory }),
})
for (const name of ['part', 'rest']) await workspace.createDirectory(`/${name}`)
const look = async () => (isBucket ? storeTreeOf(workspace) : treeOf(root))

/** Changes both parts by calls. */
async function changeStore(view: Workspace, turn: number): Promise<void> {
  for (const part of ['/part', '/rest']) {
    for (let file = 0; file < 4; file += 1) await view.write(`${part}/f${file}`, `${part} ${turn} ${file}\n`)
    await view.delete(`${part}/f${turn % 4}`)
    await view.delete(`${part}/d${(turn + 1) % 2}`, { recursive: true, force: true })
    await view.write(`${part}/d${turn % 2}/deep`, `${turn}\n`)
    await view.move(`${part}/f${(turn + 1) % 4}`, `${part}/moved`, { overwrite: true })
  }
}

/** Changes both parts in every way, in place too. */
function change(turn: number): void {
  for (const part of ['part', 'rest']) {
    for (let file = 0; file < 12; file += 1)
      writeFileSync(at(`${part}/f${file}`), `${part} ${turn} ${file}\n`.repeat(200))
    rmSync(at(`${part}/f${turn % 12}`))
    rmSync(at(`${part}/d${(turn + 1) % 3}`), { recursive: true, force: true })
    mkdirSync(at(`${part}/d${turn % 3}/deep`), { recursive: true })
    writeFileSync(at(`${part}/d${turn % 3}/deep/file`), `${turn}\n`)
    rmSync(at(`${part}/link`), { force: true })
    symlinkSync(`f${turn % 12}`, at(`${part}/link`))
    chmodSync(at(`${part}/f${(turn + 1) % 12}`), turn % 2 === 0 ? 0o600 : 0o644)
    utimesSync(at(`${part}/f${(turn + 2) % 12}`), turn, turn)
  }
}

function allow(...trees: readonly object[]): void {
  process.stdout.write(`${JSON.stringify(trees)}\n`)
}

for (let turn = Number(seed) * 1_000; ; turn += 1) {
  const before = await look()
  allow(before)
  const attempt = await workspace.try(
    async (view) => {
      if (isBucket) await changeStore(view, turn)
      else change(turn)
      await view.write('/rest/by-call', `${turn}\n`)
    },
    { exclusive: true },
  )
  const after = await look()
  const kind = random()
  if (kind < 0.4) {
    await attempt.drop()
  } else if (kind < 0.6) {
    allow(before, after)
    await attempt.keep()
  } else {
    const inPart = ([path]: readonly [string, string]): boolean => path === '/part' || path.startsWith('/part/')
    const rest = Object.entries(before).filter((entry) => !inPart(entry))
    allow(before, Object.fromEntries([...rest, ...Object.entries(after).filter(inPart)]))
    await attempt.keep(['part'])
  }
}

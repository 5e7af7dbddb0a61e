import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { ws } from './ws.ts'

it('saves, names, shows and takes back what changed, by any program', async () => {
  const own = { uid: process.getuid?.() ?? ordinaryOwner().uid, gid: process.getgid?.() ?? ordinaryOwner().gid }
  const scratch = await createScratchDirectory({ owner: own })
  onTestFinished(() => scratch.remove())
  const root = join(scratch.path, 'project')
  await mkdir(root)
  await chmod(root, 0o755)
  await writeFile(join(root, 'a.txt'), 'one\n')
  await writeFile(join(root, 'b.txt'), 'b\n')
  const env = { XDG_STATE_HOME: join(scratch.path, 'state') }
  const call = (...args: string[]) => ws(['--root', root, ...args], { env })

  expect((await call('changes')).stderr).toContain('there is no checkpoint yet')
  const saved = await call('checkpoint', 'before the agent')
  expect(saved).toMatchObject({ code: 0, stderr: '' })
  const id = saved.stdout.trim()
  await writeFile(join(root, 'a.txt'), 'two\n')
  await rm(join(root, 'b.txt'))
  await writeFile(join(root, 'c.txt'), 'c\n')

  expect((await call('checkpoint', '--list')).stdout).toMatch(new RegExp(`^${id}  \\S+  before the agent\\n$`, 'u'))
  expect((await call('changes')).stdout).toBe(
    'changed  /workspace/a.txt (content)\ndeleted  /workspace/b.txt\ncreated  /workspace/c.txt\n',
  )
  const lines = (await call('--json', 'changes', '--since', id, '/workspace/a.txt')).stdout
  const change = { path: '/workspace/a.txt', kind: 'changed', type: 'file', what: ['content'] }
  expect(JSON.parse(lines)).toEqual({ ...change, sizeBefore: 4, sizeAfter: 4 })
  expect((await call('diff', '/workspace/a.txt')).stdout).toBe(
    '--- a/workspace/a.txt\n+++ b/workspace/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n',
  )

  expect((await call('restore', id, '--dry-run')).stdout).toBe(
    'would restore    /workspace/a.txt\nwould bring back /workspace/b.txt\nwould remove     /workspace/c.txt\n',
  )
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('two\n')
  const restored = await call('restore', id)
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect(restored.stdout).toContain(
    'restored     /workspace/a.txt\nbrought back /workspace/b.txt\nremoved      /workspace/c.txt\nundo: ',
  )
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('one\n')
  const [, undo = ''] = /undo: ws restore (\w+)/u.exec(restored.stdout) ?? []
  expect((await call('restore', undo, '/workspace/a.txt')).code).toBe(0)
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('two\n')
  expect((await call('restore', 'c0')).code).toBe(1)
})

it.each(['--s3', '--rclone'])('refuses a bucket without a copy, whose changes it would not see: %s', async (flag) => {
  const { code, stderr } = await ws([flag, 'bucket', 'checkpoint'])
  expect(code).toBe(2)
  expect(stderr).toContain('--replica DIR')
})

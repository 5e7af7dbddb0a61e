import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { ws } from './ws.ts'

it('tries a command, shows what it changed, and keeps or takes it back', async () => {
  const own = { uid: process.getuid?.() ?? ordinaryOwner().uid, gid: process.getgid?.() ?? ordinaryOwner().gid }
  const scratch = await createScratchDirectory({ owner: own })
  onTestFinished(() => scratch.remove())
  const root = join(scratch.path, 'project')
  await mkdir(root)
  await chmod(root, 0o755)
  await writeFile(join(root, 'a.txt'), 'one\n')
  const env = { XDG_STATE_HOME: join(scratch.path, 'state') }
  const call = (...args: string[]) => ws(['--root', root, '--executor', 'virtual', ...args], { env })

  const command = 'echo said; echo two > a.txt; echo new > b.txt; exit 3'
  const refused = await call('try', '--', command)
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('give --keep or --drop')
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('one\n')

  const dropped = await call('try', '--drop', '--', command)
  expect(dropped).toMatchObject({ code: 3, stderr: '' })
  expect(dropped.stdout).toContain('said\nchanged  /workspace/a.txt (content)\ncreated  /workspace/b.txt\n--- a/')
  expect(dropped.stdout).toContain('-one\n+two\n')
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('one\n')

  const kept = await call('--json', 'try', '--keep', '--', command)
  expect(JSON.parse(kept.stdout)).toMatchObject({
    result: { exitCode: 3, stdout: 'said\n' },
    changes: [{ path: '/workspace/a.txt' }, { path: '/workspace/b.txt' }],
    restored: [],
  })
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('two\n')
})

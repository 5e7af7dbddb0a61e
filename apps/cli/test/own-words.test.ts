import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { WorkspaceError } from '@ws/core'
import { expect, it } from 'vitest'

import { describeError } from '../src/errors.ts'
import { createProject, ws } from './ws.ts'

it.each([
  [
    ['rm', '/workspace/d'],
    'ENOTEMPTY: delete: `/workspace/d` is a directory that is not empty; pass `-r`, or empty it first',
  ],
  [['cp', 'd', 'e'], 'EISDIR: copy: `/workspace/d` is a directory; pass `-r`'],
  [['cp', 'd/x', 'f'], 'EEXIST: copy: `/workspace/f` exists already; choose another destination, or pass `-f`'],
  [['mkdir', 'a/b'], 'pass `-p`'],
  [['--owner', '0:0', 'ls'], '--owner'],
])('ws %j: the remedy names options of ws', async (args, message) => {
  await using project = await createProject({})
  await mkdir(join(project.path, 'd'))
  await writeFile(join(project.path, 'd/x'), '')
  await writeFile(join(project.path, 'f'), '')
  expect((await ws(['--root', project.path, ...args])).stderr).toContain(message)
})

it.each([
  ['pass `owner: { uid, gid }` to the local adapter', 'pass `--owner UID:GID`'],
  ['create the directory first (or pass `create: true`), or name another one', 'create the directory first, or name'],
  ["run this command without the rule (`acknowledge: ['deny(/a)']`)", "the rule (`--acknowledge 'deny(/a)'`)"],
  ['give another `cwd`', 'give another `--cwd`'],
  ["mount it at `/workspace` instead (`at: '/workspace'`)", 'instead (`--at /workspace`)'],
])('%s', (remedy, told) => {
  const error = new WorkspaceError({ code: 'EINVAL', operation: 'exec', reason: 'is wrong', remedy, path: '/a' })
  expect(describeError(error)).toMatchObject({
    line: expect.stringContaining(told),
    json: { error: { code: 'EINVAL', path: '/a', remedy: expect.stringContaining(told) } },
  })
})

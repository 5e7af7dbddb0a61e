import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, WorkspaceError } from '@ws/core'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'

describeWith(
  [component('bubblewrap'), component('proot')],
  'a name of the system that has just appeared at `/`',
  () => {
    it('refuses the command, in place of showing the system over it', async () => {
      await using scratch = await createScratchDirectory()
      const local = await createLocalAdapter({ root: scratch.path })
      // as if it had come right after the workspace has looked
      const late = new Proxy(local, {
        get(target, key) {
          if (key === 'stat')
            return async (path: string) => {
              if (path !== '/lib64') return target.stat(path as never)
              throw new WorkspaceError({ code: 'ENOENT', operation: 'stat', path, reason: 'does not exist' })
            }
          const value: unknown = Reflect.get(target, key, target)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
      await using workspace = await createWorkspace({
        mounts: [{ at: '/', adapter: late }],
        executors: [createBubblewrapExecutor()],
      })
      expect((await workspace.exec('echo runs', { login: false })).stdout).toBe('runs\n')
      mkdirSync(join(scratch.path, 'lib64'))
      await expect(workspace.exec('true')).rejects.toMatchObject({ path: '/lib64', code: expect.stringMatching(/^E/) })
      await local.close()
    })
  },
)

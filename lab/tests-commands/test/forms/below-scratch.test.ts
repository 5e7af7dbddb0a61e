/** @module-tag all */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { component, createScratchDirectory, describeWith, put } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { everywhere } from './executors.ts'

// The sanitizing executor has no view: it serves one mount.
for (const { name, root, components, create } of everywhere.filter((one) => !one.name.startsWith('sanitize')))
  describeWith(components.map(component), `a mount below /tmp in ${name}`, () => {
    it('[PC15] is there at both doors and for each command, whatever a command removes of /tmp', async () => {
      const { path, remove } = await createScratchDirectory({ prefix: 'ws-below-' })
      for (const file of ['first/f', 'second/f']) await put(join(path, file), file, path)
      const workspace = await createWorkspace({
        mounts: [
          { at: root, adapter: () => createLocalAdapter({ root: join(path, 'first') }) },
          { at: '/tmp/a/b', adapter: () => createLocalAdapter({ root: join(path, 'second') }) },
        ],
        executors: [create()],
      })
      try {
        for (const _ of ['cold', 'warm']) {
          const { stdout } = await workspace.exec(
            'cat /tmp/a/b/f; rmdir /tmp/a/b /tmp/a 2>/dev/null; echo x > /tmp/own',
          )
          expect(stdout).toBe('second/f')
        }
        expect((await workspace.exec('ls /tmp /tmp/a')).stdout).toBe('/tmp:\na\nown\n\n/tmp/a:\nb\n')
        await writeFile(join(path, 'second/g'), 'host')
        expect(await workspace.readText('/tmp/a/b/g')).toBe('host')
      } finally {
        await workspace.close()
        await remove()
      }
    })
  })

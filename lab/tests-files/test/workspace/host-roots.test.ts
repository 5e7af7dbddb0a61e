import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { createScratchDirectory } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

describe('two mounts of one directory of the host', () => {
  const pairs: [string, string, string, boolean][] = [
    ['the same directory', 'a', 'a', false],
    ['one inside the other', 'a', 'a/inside/deeper', false],
    ['the other way round', 'a/inside', 'a', false],
    ['one of them given by a link', 'a', 'link', false],
    ['neighbours of similar names', 'a', 'ab', true],
  ]

  it.each(pairs)('%s: %s and %s', async (_, outer, inner, allowed) => {
    await using scratch = await createScratchDirectory()
    for (const path of ['a/inside/deeper', 'ab']) mkdirSync(join(scratch.path, path), { recursive: true })
    symlinkSync('a/inside', join(scratch.path, 'link'))
    const adapter = (path: string) => () => createLocalAdapter({ root: join(scratch.path, path) })
    const making = createWorkspace({
      mounts: [
        { at: '/workspace', adapter: adapter(outer) },
        { at: '/skills', adapter: adapter(inner), access: 'read-only' },
      ],
    })
    if (allowed) {
      await using workspace = await making
      expect(workspace.mounts).toHaveLength(2)
    } else {
      // the outer one would be a way round the access of the inner one
      await expect(making).rejects.toMatchObject({ code: 'EINVAL', operation: 'createWorkspace' })
      await making.catch((error: unknown) => expect(String(error)).not.toContain(scratch.path))
    }
  })
})

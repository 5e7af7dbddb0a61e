import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { rootPath } from '@ws/core'
import { component, createScratchDirectory, describeWith, ordinaryOwner } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'

describeWith((['bubblewrap', 'perl', 'tmpfs'] as const).map(component), 'a probe without space', () => {
  it('[HO2] for the list of reserved names settles for no other form or executor', async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-short-' })
    const state = join(scratch.path, 'state')
    mkdirSync(state)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4k,mode=0700', 'short', state])
    process.env['WS_STATE_DIRECTORY'] = state
    try {
      writeFileSync(join(state, 'filler'), Buffer.alloc(4096))
      for (const root of ['auto', 'direct'] as const) {
        const probing = createBubblewrapExecutor({ root }).probe({ root: rootPath, owner: ordinaryOwner() })
        await expect(probing).rejects.toMatchObject({
          code: 'ENOEXECUTOR',
          reason: 'it could not be tried whether commands can be confined: no space is left on the disk',
          remedy: 'free some space',
        })
      }
    } finally {
      delete process.env['WS_STATE_DIRECTORY']
      execFileSync('umount', ['-l', state])
    }
  })
})

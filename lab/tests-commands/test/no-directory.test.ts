import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { openMemory } from '@ws/tests-files'
import { expect, it } from 'vitest'

it('refuses executors of real processes where a mount has no directory here', async () => {
  await expect(openMemory({ '/': {} }, { executors: [createBubblewrapExecutor()] })).rejects.toThrow(
    /ENOEXECUTOR.*no directory on this machine.*file API/s,
  )
})

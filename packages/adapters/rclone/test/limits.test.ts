import { execFile } from 'node:child_process'
import { open as openFile, readFile, unlink, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { component, describeWith } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { mountNeeds, openSite } from './support.ts'

// Differences from a local disk that programs on the mount find: the README lists them.
describeWith([...mountNeeds, component('perl')], 'limits of a mount, for commands', () => {
  it('a file that is not uploaded yet is cut by its descriptor, and not by its path', async () => {
    const { adapter, root, store } = await openSite({ timeouts: { writeBack: 2_000 } })
    const path = join(root, 'f')
    await writeFile(path, 'content')
    // truncate(2); Node's own function opens the file
    const { stdout } = await promisify(execFile)('perl', ['-e', 'truncate($ARGV[0], 3) or print $! + 0', path])
    expect(Number(stdout)).toBe(constants.errno.EIO)
    expect(await readFile(path, 'utf8')).toBe('content')
    const file = await openFile(path, 'r+')
    await file.truncate(3)
    await file.close()
    expect(await readFile(path, 'utf8')).toBe('con')
    await adapter.flush()
    expect(await store.get('threads/t1/f')).toBe('con')
  })

  it('a file that is removed while it is open cannot be relied on: it reads empty or fails', async () => {
    const { root } = await openSite()
    const path = join(root, 'f')
    await writeFile(path, 'content')
    const file = await openFile(path, 'r')
    onTestFinished(() => file.close().catch(() => undefined))
    await unlink(path)
    const read = await file.readFile('utf8').catch((error: NodeJS.ErrnoException) => error.code)
    expect(['', 'EIO', 'ENOENT', 'content']).toContain(read)
  })
})

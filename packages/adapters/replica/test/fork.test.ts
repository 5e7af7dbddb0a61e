import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { createCheckpoints } from '@ws/snapshots'
import { rounds } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { at, filesOf, machineOf, openMachine, ownDirectory, put } from './support/site.ts'

const files = { '/a/one.txt': '1', '/a/two.txt': '2', '/b.txt': 'b' }

describe('a fork of a replica', () => {
  it('[EF3] holds every file, also those that were not on this machine yet, and none of it goes to the store', async () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`/many/f${index}`, `${index}`]))
    const store = createMemoryAdapter({ files: many })
    const { replica } = await openMachine(store)
    await using fork = await replica.createFork?.()
    const { ['/many']: _, ...copied } = fork === undefined ? {} : await filesOf(fork)
    expect(copied).toEqual(many)
    if (fork !== undefined) await put(fork, '/new', 'x')
    await replica.flush?.()
    expect((await filesOf(store))['/new']).toBeUndefined()
    expect(fork?.flush).toBeUndefined()
  })

  it('[EF3] waits for the rest of the files, until it is aborted', async () => {
    const store = createMemoryAdapter({ files })
    const { read } = store
    store.read = async (_path, { signal } = {}) => {
      if (signal !== undefined) await once(signal, 'abort')
      throw new Error('ended')
    }
    const { replica } = await openMachine(store)
    const late = new AbortController()
    const waiting = replica.createFork?.({ signal: late.signal })
    late.abort(new Error('too late'))
    await expect(waiting).rejects.toThrow('too late')
    store.read = read
  })

  it('[EF3] leaves a directory of copies that does not stop the next replica', async () => {
    const directory = await ownDirectory()
    const store = createMemoryAdapter({ files })
    const first = await machineOf(store, { directory })
    mkdirSync(join(directory, '.ws-forks/left'), { recursive: true })
    await first.replica.close()
    const { replica } = await machineOf(store, { directory })
    expect(await filesOf(replica)).toMatchObject(files)
  })
})

describe('merges of forks of a replica', { tags: 'rounds' }, () => {
  it('[EF3] reach the store too: each path is ours, theirs or a named conflict', async () => {
    const store = createMemoryAdapter({ files })
    const { replica, root } = await machineOf(store)
    const checkpoints = createCheckpoints({ stateDirectory: `${await ownDirectory()}/kept` })
    await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter: replica }], checkpoints })
    for (const round of rounds({ quick: 2, most: 1_000, seconds: 60 })) {
      await using fork = await workspace.fork()
      const before = await filesOf(store)
      await fork.write('/a/two.txt', `theirs ${round}`)
      await fork.write(`/both-${round}`, 'theirs')
      await fork.move('/b.txt', `/moved-${round}`)
      await fork.move(`/moved-${round}`, '/b.txt')
      await fork.write(`/deep/${round}/x`, `${round}`, { parents: true })
      await fork.delete('/a/one.txt')
      const script = `echo ours > both-${round}; echo ${round} > ours.txt`
      const { uid, gid } = (await replica.hostDirectory?.(at('/')))?.owner ?? {}
      expect(spawnSync('sh', ['-c', script], { cwd: root, uid, gid }).status).toBe(0)
      const { conflicts, kept, undo = '' } = await workspace.merge(fork)
      expect({ conflicts, kept }, `round ${round}`).toEqual({
        conflicts: [{ path: `/both-${round}`, reason: 'it was changed here too' }],
        kept: [],
      })
      await workspace.flush()
      const { ['/a/one.txt']: __, ...others } = before
      expect(await filesOf(store), `round ${round}`).toEqual({
        ...others,
        ...{ '/a/two.txt': `theirs ${round}`, [`/both-${round}`]: 'ours\n', '/ours.txt': `${round}\n` },
        ...{ '/deep': 'directory', [`/deep/${round}`]: 'directory', [`/deep/${round}/x`]: `${round}` },
      })
      await workspace.restore(undo)
      await workspace.flush()
      expect((await filesOf(store))['/a/one.txt'], `round ${round}`).toBe('1')
    }
  }, 120_000)
})

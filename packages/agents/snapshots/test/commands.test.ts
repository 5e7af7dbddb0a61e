/** @module-tag all */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith, rounds } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { createCheckpoints } from '../src/index.ts'
import { pickerOf, randomOf } from './support/random.ts'
import { failureOf, filesOf, shareEngine, siteOf } from './support/site.ts'

shareEngine()

describeWith(component('bubblewrap'), 'commands of processes', () => {
  it('[UN1] automatic checkpoints stand before each command that changes something, and before calls in between', async () => {
    const { workspace, root } = await siteOf({ automatic: true, executors: [createBubblewrapExecutor()] })
    await workspace.write('/file.txt', 'zero')
    await workspace.exec('echo one > file.txt')
    await workspace.exec('cat file.txt')
    await workspace.write('/file.txt', 'two')
    await workspace.exec('echo three >> file.txt; mkdir made; ln -s file.txt link')
    await workspace.exec('true')
    await workspace.exec('true')
    const found = await workspace.checkpoints()
    expect(found.map(({ label, automatic }) => [label, automatic])).toEqual([
      ['before `echo one > file.txt`', true],
      ['before `cat file.txt`', true],
      ['before `echo three >> file.txt; mkdir made; ln -s file.txt link`', true],
      ['before `true`', true],
    ])
    expect((await workspace.changes({ since: found[2]?.id })).map(({ path }) => path)).toEqual([
      '/file.txt',
      '/link',
      '/made',
    ])
    await workspace.restore(found[2]?.id ?? '')
    expect(await workspace.readText('/file.txt')).toBe('two')
    await workspace.restore(found[0]?.id ?? '')
    expect(await workspace.readText('/file.txt')).toBe('zero')
    expect(root).not.toBe('')
  })

  it('[UN1] an automatic checkpoint holds what other programs and commands in the background have changed', async () => {
    const { workspace, root } = await siteOf({ automatic: true, executors: [createBubblewrapExecutor()] })
    await workspace.write('/mine', 'zero')
    await workspace.exec('echo first > result')
    const background = await workspace.start('read line; echo "$line" > theirs; read line', { writableStdin: true })
    await writeFile(join(root, 'mine'), 'edited by a person')
    await background.writeInput('written\n')
    await expect.poll(() => workspace.exists('/theirs')).toBe(true)
    await workspace.exec('echo lost | tee mine theirs; rm result')
    await background.writeInput('end\n')
    await background.wait()
    const before = (await workspace.checkpoints()).at(-1)
    expect(before?.label).toBe('before `echo lost | tee mine theirs; rm result`')
    await workspace.restore(before?.id ?? '')
    expect(await workspace.readText('/mine')).toBe('edited by a person')
    expect(await workspace.readText('/theirs')).toBe('written\n')
    expect(await workspace.readText('/result')).toBe('first\n')
  })

  it('restore waits for no command: while one runs it is EBUSY, with its id', async () => {
    const { workspace } = await siteOf({ executors: [createBubblewrapExecutor()] })
    const { id } = await workspace.checkpoint()
    const command = await workspace.start('echo begun > file; exec sleep 60', { id: 'server' })
    const failure = await failureOf(workspace.restore(id))
    expect(failure).toMatchObject({ code: 'EBUSY', reason: expect.stringContaining('`server`') as string })
    expect(await workspace.checkpoints()).toHaveLength(1)
    command.kill('SIGKILL')
    await command.wait().catch(() => undefined)
    await workspace.restore(id)
    expect(await workspace.exists('/file')).toBe(false)
  })
})

describe('commands of the virtual executor, in memory', { tags: 'rounds' }, () => {
  it('[UN1] [UN2] [UN3] random commands and calls are undone, and the undoing is undone', async () => {
    for (const round of rounds({ quick: 8, most: 200, seconds: 15 })) {
      const random = randomOf(round + 1)
      const pick = pickerOf(random)
      await using workspace = await createWorkspace({
        mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
        executors: [createVirtualExecutor()],
        checkpoints: createCheckpoints(),
      })
      const path = (): string =>
        Array.from({ length: Math.ceil(random() * 3) }, () => pick(['a', 'b', 'c d', '.e'])).join('/')
      const acts: (() => Promise<unknown>)[] = [
        () => workspace.write(`/${path()}`, 'x'.repeat(random() * 100)),
        () => workspace.append(`/${path()}`, 'more'),
        () => workspace.delete(`/${path()}`, { recursive: true }),
        () => workspace.move(`/${path()}`, `/${path()}`, { overwrite: true }),
        () => workspace.copy(`/${path()}`, `/${path()}`, { overwrite: true }),
        () => workspace.createDirectory(`/${path()}`),
        () => workspace.chmod(`/${path()}`, pick([0o600, 0o755, 0o700])),
        () => workspace.createSymlink(`/${path()}`, path()),
        () =>
          workspace.exec(
            `mkdir -p '${path()}'; echo ${round} > '${path()}'; rm -rf '${path()}'; mv '${path()}' '${path()}'`,
          ),
      ]
      const some = async (count: number): Promise<void> => {
        for (let step = 0; step < count; step += 1) await pick(acts)().catch(() => undefined)
      }
      await some(15)
      const before = await filesOf(workspace)
      const { id } = await workspace.checkpoint()
      await some(15)
      const after = await filesOf(workspace)
      const { kept, undo } = await workspace.restore(id)
      expect(kept, `round ${round}`).toEqual([])
      expect(await filesOf(workspace), `round ${round}`).toEqual(before)
      expect(await workspace.changes({ since: id }), `round ${round}`).toEqual([])
      await workspace.restore(undo ?? '')
      expect(await filesOf(workspace), `round ${round}`).toEqual(after)
    }
  }, 120_000)
})

it('[UN2] a restore in memory gives a directory its time back, also where it was changed within the millisecond', async () => {
  let now = 1_000
  await using workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ now: () => now }) }],
    checkpoints: createCheckpoints(),
  })
  await workspace.createDirectory('/a')
  const { id } = await workspace.checkpoint()
  await workspace.write('/a/new', 'x')
  now = 2_000
  await workspace.restore(id)
  expect(await workspace.exists('/a/new')).toBe(false)
  expect((await workspace.stat('/a')).modifiedAt).toBe(1_000)
})

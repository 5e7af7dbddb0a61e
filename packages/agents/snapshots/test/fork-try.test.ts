import { createMemoryAdapter } from '@ws/adapter-memory'
import type { Workspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { failureOf, filesOf, shareEngine, siteOf } from './support/site.ts'

shareEngine()

const fork = true

for (const kind of ['memory', 'local'] as const) {
  describe(`a try in a fork, in ${kind}`, () => {
    it('[EF3] shows its effects, leaves the workspace free, and keeps all, some or nothing', async () => {
      const { workspace } = await siteOf({ kind, executors: [createVirtualExecutor()] })
      for (const name of ['a', 'b', 'c']) await workspace.write(`/${name}`, `${name}\n`)
      const before = await filesOf(workspace)
      const command = 'echo 2 > a; rm b; echo x > new'
      const first = await workspace.try(command, { fork })
      const second = await workspace.try('echo other > a', { fork })
      expect(first).toMatchObject({ result: { exitCode: 0 }, leftOut: [] })
      expect(first.changes.map((change) => `${change.kind} ${change.path}`)).toEqual([
        'changed /a',
        'deleted /b',
        'created /new',
      ])
      expect(await first.diff({ path: 'a' })).toContain('-a\n+2')
      expect(await filesOf(workspace)).toEqual(before)
      expect((await workspace.checkpoints()).map(({ id }) => id)).toContain(first.id)
      await workspace.exec('echo beside > c')
      expect(await failureOf(first.keep(['/c']))).toMatchObject({ code: 'EINVAL', path: '/c' })
      const kept = await first.keep(['/a', '/new'])
      expect(kept).toMatchObject({ restored: [{ path: '/b' }], kept: [] })
      expect(await second.keep()).toMatchObject({
        restored: [],
        kept: [{ path: '/a', reason: 'it was changed here too' }],
      })
      const texts = await Promise.all(['/a', '/b', '/c', '/new'].map((path) => workspace.readText(path)))
      expect(texts).toEqual(['2\n', 'b\n', 'beside\n', 'x\n'])
      await workspace.restore(kept.undo ?? '')
      expect(await workspace.readText('/a')).toBe('a\n')
      expect(await failureOf(first.drop())).toMatchObject({ code: 'ECLOSED', reason: 'the try was kept' })
      const third = await workspace.try(command, { fork })
      expect((await third.drop()).restored).toHaveLength(3)
      expect(await failureOf(third.keep())).toMatchObject({ code: 'ECLOSED', reason: 'the try was dropped' })
    })

    it('[EF3] of a function ends with it, and is dropped if it fails, after its time, and at the close', async () => {
      const { workspace } = await siteOf({ kind, executors: [createVirtualExecutor()] })
      await workspace.write('/a', 'a')
      let view: Workspace | undefined
      const failing = workspace.try(
        async (given) => {
          view = given
          await given.delete('/a')
          await given.start('while true; do echo x >> endless; done')
          expect(await failureOf(given.fork())).toMatchObject({ code: 'EBUSY' })
          expect(await failureOf(given.try('true', { fork }))).toMatchObject({ code: 'EBUSY' })
          throw new Error('of the function')
        },
        { fork },
      )
      await expect(failing).rejects.toThrow('of the function')
      expect(await failureOf(view?.readText('/a') ?? Promise.resolve())).toMatchObject({ code: 'ECLOSED' })
      const late = await workspace.try('rm a', { fork, decideWithin: 1 })
      await expect.poll(() => failureOf(late.diff()).catch(() => undefined)).toMatchObject({ code: 'ECLOSED' })
      expect((await failureOf(late.keep())).reason).toBe('the try was dropped, because 1 ms had passed')
      const open = await workspace.try('rm a', { fork })
      const endless = workspace.try(async () => new Promise<void>(() => undefined), { fork })
      const ended = failureOf(endless)
      await expect.poll(async () => (await workspace.checkpoints()).length).toBe(4)
      await workspace.close()
      expect(await ended).toMatchObject({ code: 'ECLOSED' })
      expect(await failureOf(open.keep())).toMatchObject({ code: 'ECLOSED' })
    })
  })
}

it('[EF3] a try in a fork is refused without the engine of checkpoints, and while work runs here', async () => {
  const { workspace } = await siteOf({ adapter: createMemoryAdapter(), executors: [createVirtualExecutor()] })
  const background = await workspace.start('read -r line', { writableStdin: true, id: 'server' })
  expect(await failureOf(workspace.try('true', { fork }))).toMatchObject({ code: 'EBUSY' })
  background.kill('SIGKILL')
  await background.wait()
  await (await workspace.try('true', { fork })).drop()
})

describeWith(component('bubblewrap'), 'tries of processes in forks', { tags: ['all'] }, () => {
  it('[EF3] run beside one another at the same paths, without a network', async () => {
    const { workspace } = await siteOf({
      executors: [createBubblewrapExecutor({ network: { allow: ['example.com'] } })],
    })
    await workspace.write('/a', 'a')
    const command = (name: string) => `pwd; cat a; echo ${name} > ${name}; curl -sS -m 5 https://example.com`
    const tries = await Promise.all(['one', 'two', 'three'].map((name) => workspace.try(command(name), { fork })))
    for (const attempt of tries) {
      expect(attempt.result.stdout).toBe(`${workspace.root}\na`)
      expect(attempt.connections).toMatchObject([{ host: 'example.com', outcome: 'denied', rule: 'try' }])
    }
    for (const attempt of tries) expect((await attempt.keep()).kept).toEqual([])
    expect(Object.keys(await filesOf(workspace)).sort()).toEqual(['/a', '/one', '/three', '/two'])
  })
})

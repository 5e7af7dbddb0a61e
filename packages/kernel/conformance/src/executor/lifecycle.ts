import { equal } from '../assert.ts'
import { beating, codeOf } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

export function lifecycleTests({ describe, test }: DoorSuite): void {
  describe('lifecycle', () => {
    test('closing ends what runs', {}, async (it) => {
      const site = await it.open()
      const running = await site.workspace.spawn(beating, { shell: 'sh', login: false, killGrace: 100 })
      await site.appears('begun')
      await site.workspace.close()
      equal((await running.wait()).exitCode, null, 'the exit code')
      await site.cutOff()
    })

    test('after closing every command is ECLOSED, and closing twice is fine', {}, async (it) => {
      const site = await it.open()
      await site.run('true')
      await site.workspace.close()
      await site.workspace.close()
      equal(await codeOf(site.attempt('true')), 'ECLOSED', 'a command')
    })

    test('one executor serves several workspaces, each with its own files', {}, async (it) => {
      const one = await it.open({ files: { who: 'one' } })
      const two = await it.open({ files: { who: 'two' } })
      equal(await Promise.all([one.run('cat who'), two.run('cat who')]), ['one', 'two'], 'the files')
      await one.workspace.close()
      equal(await two.run('cat who'), 'two', 'the file of the other')
    })

    test('an attached executor is closed once and again', {}, async (it) => {
      const site = await it.open()
      const { workspace, store } = site
      const owner = (await store.hostDirectory?.('/' as Parameters<NonNullable<typeof store.hostDirectory>>[0]))?.owner
      const attached = await it.fixture.executor.attach({ root: workspace.root, owner, files: workspace })
      equal(attached.guarantees, it.guarantees, 'the guarantees')
      await attached.close()
      await attached.close()
      equal(await site.run('echo ran'), 'ran\n', 'a command of another workspace')
    })
  })
}

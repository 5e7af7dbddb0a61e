import { setTimeout as delay } from 'node:timers/promises'
import { check, equal, rejects } from '../assert.ts'
import { codeOf } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'
import { watchOutput } from './watch-output.ts'

const open = { shell: 'sh', login: false, killGrace: 100, timeout: 60_000, writableStdin: true } as const

export function writtenInputTests({ describe, test }: DoorSuite): void {
  describe('standard input that is written', () => {
    test('is read up to its end, by running and background commands', {}, async (it) => {
      const site = await it.open()
      for (const start of ['spawn', 'start'] as const) {
        const running = await site.workspace[start]('cat; echo over', open)
        await running.writeInput('one\n')
        void running.writeInput(new TextEncoder().encode('twö\n'))
        running.endInput()
        running.endInput()
        equal((await running.wait()).stdout, 'one\ntwö\nover\n', `the output of ${start}`)
      }
    })

    test('reaches the command at once', { kind: 'process' }, async (it) => {
      const site = await it.open()
      const watch = watchOutput()
      const running = await site.workspace.start('while read line; do echo "got $line"; done', {
        ...open,
        timeout: 5_000,
        onOutput: watch.onOutput,
      })
      for (const word of ['one', 'two']) {
        await running.writeInput(`${word}\n`)
        await Promise.race([watch.until(`got ${word}\n`), running.wait()])
      }
      running.endInput()
      equal((await running.wait()).stdout, 'got one\ngot two\n', 'the output')
    })

    test('is ECLOSED after its end, after the command, and where it was not opened', {}, async (it) => {
      const site = await it.open()
      const running = await site.workspace.spawn('cat', open)
      running.endInput()
      await rejects(running.writeInput('late'), 'ECLOSED', { what: 'writing after the end of the input' })
      equal((await running.wait()).stdout, '', 'the output')
      const ended = await site.workspace.spawn('exit 3', open)
      const unread = codeOf(ended.writeInput('more'))
      equal((await ended.wait()).exitCode, 3, 'the exit code of a command that reads nothing')
      check(['done', 'ECLOSED'].includes(await unread), `writing to it should not have been ${await unread}`)
      await rejects(ended.writeInput('late'), 'ECLOSED', { what: 'writing after the end of the command' })
      const closed = await site.workspace.spawn('cat', { shell: 'sh', login: false })
      await rejects(closed.writeInput('x'), 'ECLOSED', { what: 'writing to an input that was not opened' })
      equal((await closed.wait()).stdout, '', 'the output')
    })

    test('is ECLOSED for a writer that goes on when the command has ended', { kind: 'process' }, async (it) => {
      const site = await it.open()
      const running = await site.workspace.spawn('head -c 5 | wc -c; exit 4', open)
      let code = 'done'
      for (let writes = 0; writes < 10_000 && code === 'done'; writes++)
        code = await codeOf(running.writeInput(new Uint8Array(65_536)))
      equal(code, 'ECLOSED', 'writing on and on')
      const { exitCode, stdout } = await running.wait()
      equal([exitCode, stdout.trim()], [4, '5'], 'the end of the command')
    })

    test('waits for a command that does not read', { kind: 'process' }, async (it) => {
      const site = await it.open()
      const running = await site.workspace.spawn('until [ -e go ]; do sleep 0.02; done; wc -c', open)
      const chunk = new Uint8Array(65_536)
      const most = 64
      let writes = 0
      let last: Promise<string>
      do {
        last = codeOf(running.writeInput(chunk))
        writes++
      } while ((await Promise.race([last, delay(300, 'waits')])) === 'done' && writes < most)
      check(writes < most, `${most} chunks of 64 KiB were taken of which the command has read nothing`)
      await site.workspace.write('go', '')
      equal(await last, 'done', 'writing to it')
      running.endInput()
      equal(Number((await running.wait()).stdout), writes * chunk.length, 'the bytes that came')
    })

    test('cannot be opened together with `stdin`, nor for `exec`', {}, async (it) => {
      const site = await it.open()
      const both = { ...open, stdin: 'x' }
      await rejects(site.workspace.spawn('echo x > ran', both), 'EINVAL', { what: '`stdin` and `writableStdin`' })
      await rejects(site.workspace.exec('echo x > ran', open), 'EINVAL', { what: '`writableStdin` for exec' })
      equal(await site.stored('ran'), undefined, 'what the command writes')
    })
  })
}

import { randomInt } from 'node:crypto'
import { check, equal, fail, rejection } from '../assert.ts'
import { beating, type Site } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'
import { launcherOf, processWith } from './processes.ts'

/** A process in its own session, which appends to a file forever. Only killing the whole process tree stops it. */
const heart =
  'setsid sh -c \'trap "" TERM HUP; while :; do echo x >> beat; sleep 0.02; done\' < /dev/null > /dev/null 2>&1 &'
const deaf = `trap '' TERM INT HUP; ${beating}`

async function start(site: Site, command: string, options: { signal?: AbortSignal; killGrace?: number } = {}) {
  const running = await site.workspace.spawn(command, { shell: 'sh', login: false, killGrace: 100, ...options })
  await site.appears('begun')
  return running
}

export function endTests({ describe, test }: DoorSuite): void {
  describe('ends', () => {
    test('a timeout ends the command and says so', {}, async (it) => {
      const site = await it.open()
      const result = await site.attempt(beating, { timeout: 1_000, killGrace: 100 })
      equal({ timedOut: result.timedOut, exitCode: result.exitCode }, { timedOut: true, exitCode: null }, 'the result')
      check(result.signal !== null, 'the result names no signal')
      check(result.duration < 4_000, `it took ${Math.round(result.duration)} ms with a timeout of 1 s`)
      await site.cutOff()
    })

    test('a timeout ends a command that is deaf to polite signals, after the grace', {
      kind: 'process',
    }, async (it) => {
      const site = await it.open()
      const result = await site.attempt(deaf, { timeout: 1_000, killGrace: 100 })
      equal([result.timedOut, result.exitCode], [true, null], 'timed out, and no exit code')
      await site.cutOff()
    })

    test('a timeout ends everything that the command started', { kind: 'process' }, async (it) => {
      const site = await it.open()
      let timedOut = false
      // a timeout before the first write would prove nothing, so longer timeouts follow
      for (let timeout = 1_500; (await site.stored('beat')) === undefined && timeout < 60_000; timeout *= 4) {
        const result = await site.attempt(`trap '' TERM INT HUP; ${heart}\n sleep 90`, { timeout, killGrace: 100 })
        timedOut = result.timedOut
      }
      equal(timedOut, true, 'timed out')
      await site.settled('beat')
    })

    test('nothing that the command started survives its normal end', { kind: 'process' }, async (it) => {
      const site = await it.open()
      const started = performance.now()
      const out = await site.run(
        `${heart}\n(sleep 30; echo never) & (${heart}); nohup sleep 30 > /dev/null 2>&1 & while [ ! -s beat ]; do sleep 0.01; done; echo started`,
      )
      equal(out, 'started\n', 'the output')
      check(performance.now() - started < 25_000, 'the end waited for what ran in the background')
      await site.settled('beat')
    })

    test('nothing survives that the executor’s own process is killed with SIGKILL', {
      kind: 'process',
      holds: ['processes'],
    }, async (it) => {
      const site = await it.open()
      const word = `60.${randomInt(1_000_000_000)}`
      const running = await start(site, `${heart}\n echo x > begun; sleep ${word}`)
      const ended = running.wait().catch(() => undefined) // the result of a killed command does not matter
      const launcher = await launcherOf((await processWith(word)) ?? fail('the command is not among the processes'))
      process.kill(launcher ?? fail('the command does not run below a process of the executor'), 'SIGKILL')
      await ended
      await site.settled('beat')
      equal(await site.run('echo ran'), 'ran\n', 'the next command')
      const tree = (await site.tree()).filter((entry) => !/\/(?:beat|begun)$/.test(entry))
      equal(tree, ['file /file.txt'], 'the store')
    })

    test('an abort rejects with its reason, after the command has ended', {}, async (it) => {
      const site = await it.open()
      const controller = new AbortController()
      const running = await start(site, beating, { signal: controller.signal })
      const reason = new Error('enough')
      controller.abort(reason)
      const failed = await rejection(running.wait(), 'the aborted command')
      check(failed === reason, `it should have rejected with signal.reason, not with ${String(failed)}`)
      equal(running.kill(), false, 'kill after the end')
      await site.cutOff()
    })

    test('an abort ends everything that the command started', { kind: 'process' }, async (it) => {
      const site = await it.open()
      const controller = new AbortController()
      const running = await start(site, `${heart}\n${beating}`, { signal: controller.signal })
      controller.abort(new Error('enough'))
      await rejection(running.wait(), 'the aborted command')
      await site.settled('beat')
    })

    test('a signal that is aborted already runs nothing', {}, async (it) => {
      const site = await it.open()
      const reason = new Error('never wanted')
      const failed = await rejection(site.attempt('echo x > ran', { signal: AbortSignal.abort(reason) }))
      check(failed === reason, `it should have rejected with signal.reason, not with ${String(failed)}`)
      equal(await site.stored('ran'), undefined, 'what the command writes')
    })

    test('kill ends the command with that signal, and is false when it has ended', {}, async (it) => {
      const site = await it.open()
      const running = await start(site, beating)
      equal(running.kill('SIGKILL'), true, 'kill')
      const { exitCode, signal, timedOut } = await running.wait()
      equal({ exitCode, signal, timedOut }, { exitCode: null, signal: 'SIGKILL', timedOut: false }, 'the result')
      await site.cutOff()
      equal(running.kill(), false, 'kill after the end')
    })

    test('kill passes a signal on, which the command can handle', { kind: 'process' }, async (it) => {
      const site = await it.open()
      const running = await start(site, `trap 'exit 7' TERM; echo x > begun; while :; do sleep 0.02; done`, {
        killGrace: 10_000, // the handler may have to wait for a busy processor
      })
      equal(running.kill('SIGTERM'), true, 'kill')
      equal((await running.wait()).exitCode, 7, 'the exit code of the handler')
    })

    test('leaving the scope of a running command ends it', {}, async (it) => {
      const site = await it.open()
      await (await start(site, beating))[Symbol.asyncDispose]()
      await site.cutOff()
    })

    test('commands leave nothing in the store but what they wrote', {}, async (it) => {
      const site = await it.open()
      await site.run('true')
      await site.attempt('exit 3')
      await site.attempt('sleep 3', { timeout: 100, killGrace: 50 })
      await site.run('echo x > made')
      equal(await site.tree(), ['file /file.txt', 'file /made'], 'the store')
    })
  })
}

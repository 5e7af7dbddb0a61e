import type { OutputChunk } from '@ws/core'
import { constants } from 'node:os'
import { check, equal, rejection } from '../assert.ts'
import type { DoorSuite } from '../doors/suite.ts'
import { watchOutput } from './watch-output.ts'

const plain = { shell: 'sh', login: false, killGrace: 100, timeout: 60_000 } as const

export function outputTests({ describe, test }: DoorSuite): void {
  describe('output of both streams', () => {
    test('is one text with all of both', {}, async (it) => {
      const site = await it.open()
      const both = await site.attempt('echo out; echo error >&2; echo more')
      const lines = both.output.split('\n')
      equal(lines.toSorted(), ['', 'error', 'more', 'out'], 'the lines of both streams')
      check(lines.indexOf('out') < lines.indexOf('more'), 'the lines of one stream changed places')
      const { output, truncated } = await site.attempt('echo only')
      equal({ output, truncated }, { output: 'only\n', truncated: false }, 'the output on one stream')
      equal((await site.attempt('echo only >&2')).output, 'only\n', 'the output on the other')
    })

    test('is in the order in which it came', { kind: 'process' }, async (it) => {
      const site = await it.open()
      const watch = watchOutput()
      const command = 'echo one; read go; echo two >&2; read go; echo three'
      const running = await site.workspace.spawn(command, { ...plain, writableStdin: true, onOutput: watch.onOutput })
      for (const word of ['one', 'two']) {
        await Promise.race([watch.until(word), running.wait()])
        equal(running.output().output, watch.text(), 'the output so far')
        await running.writeInput('\n')
      }
      equal((await running.wait()).output, 'one\ntwo\nthree\n', 'the output')
      equal(watch.text(), 'one\ntwo\nthree\n', 'the output that the listener got')
    })

    test('keeps its own head and tail within the limit', {}, async (it) => {
      const site = await it.open()
      const { output, truncated } = await site.attempt('seq 1 20000; seq 1 20000 >&2', { maxOutputBytes: 1000 })
      check(truncated, 'the result does not say `truncated`')
      check(/\n\[… 2\d{5} bytes omitted …\]\n/.test(output), 'the output does not tell how much is left out')
      check(output.startsWith('1\n2\n') && output.endsWith('\n20000\n'), 'the head or the tail is not there')
      check(output.length < 1_200, `${output.length} characters were kept`)
      const small = await site.attempt('printf %600d 1; printf %600d 2 >&2', { maxOutputBytes: 1000 })
      check(small.truncated, 'the result does not say that the output of both is `truncated`')
      equal([small.stdout.length, small.stderr.length], [600, 600], 'the lengths of the streams')
    })

    test('is told to a listener with bytes of its own, and one that fails harms nothing', {}, async (it) => {
      const site = await it.open()
      const watch = watchOutput()
      const listener = (chunk: OutputChunk): Promise<void> => {
        watch.onOutput(chunk)
        if (chunk.stream === 'stderr') throw new Error('a listener that throws')
        return Promise.reject(new Error('a listener that rejects'))
      }
      // Callers without types or lint may pass a listener that returns a promise.
      const onOutput = listener as (chunk: OutputChunk) => void
      const { exitCode, stdout, stderr } = await site.attempt('seq 1 5000; seq 1 5000 >&2; exit 3', { onOutput })
      const seq = Array.from({ length: 5000 }, (_, index) => `${index + 1}\n`).join('')
      check(stdout === seq && stderr === seq, 'the result has another output')
      check(watch.text('stdout') === seq && watch.text('stderr') === seq, 'the listener got another output')
      equal(exitCode, 3, 'the exit code')
    })

    test('is there after an abort, as far as it came', {}, async (it) => {
      const site = await it.open()
      const controller = new AbortController()
      const command = 'echo before; echo problem >&2; echo x > begun; sleep 8; echo after'
      // The abort comes during the long sleep, which SIGTERM ends. During the grace, an executor can deliver buffered output.
      const options = { ...plain, killGrace: 10_000, signal: controller.signal }
      const running = await site.workspace.spawn(command, options)
      const background = await site.workspace.start(command.replace('begun', 'begun-too'), options)
      await Promise.all([site.appears('begun'), site.appears('begun-too')])
      controller.abort(new Error('enough'))
      await rejection(running.wait(), 'the aborted command')
      await rejection(background.wait(), 'the aborted background command')
      const { stdout, stderr, output } = running.output()
      equal({ stdout, stderr, output }, { stdout: 'before\n', stderr: 'problem\n', output: 'before\nproblem\n' }, 'it')
      const { output: logged } = background.output()
      equal(logged.text, 'before\nproblem\n', 'the output of the background command')
      equal(background.output({ since: { output: 7 } }).output.text, 'problem\n', 'the output from an offset on')
    })
  })

  describe('exit status', () => {
    test('is the exit code, or 128 and the number of the signal', {}, async (it) => {
      const site = await it.open()
      for (const code of [0, 7]) equal((await site.attempt(`exit ${code}`)).exitStatus, code, 'the status of an exit')
      const late = await site.attempt('sleep 5', { timeout: 1_000, killGrace: 100 })
      const number = constants.signals[(late.signal ?? '') as NodeJS.Signals]
      equal(late.exitStatus, 128 + number, `the status after a timeout, which ended it by ${late.signal}`)
      const running = await site.workspace.spawn('echo x > begun; sleep 3', plain)
      await site.appears('begun')
      running.kill('SIGKILL')
      equal((await running.wait()).exitStatus, 137, 'the status after SIGKILL')
    })
  })
}

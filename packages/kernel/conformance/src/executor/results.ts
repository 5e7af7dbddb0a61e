import { check, equal } from '../assert.ts'
import type { DoorSuite } from '../doors/suite.ts'

export function resultTests({ describe, test }: DoorSuite): void {
  describe('results', () => {
    test('give the exit code, and never reject for it', {}, async (it) => {
      const site = await it.open()
      for (const code of [0, 3, 255]) {
        const { exitCode, signal, timedOut } = await site.attempt(`exit ${code}`)
        equal(
          { exitCode, signal, timedOut },
          { exitCode: code, signal: null, timedOut: false },
          `the end of exit ${code}`,
        )
      }
    })

    test('say that a program is not there with 127', {}, async (it) => {
      const site = await it.open()
      const { exitCode, stderr } = await site.attempt('no-such-program-at-all')
      equal(exitCode, 127, 'the exit code')
      check(stderr.includes('no-such-program-at-all'), `standard error should name the program: ${stderr}`)
    })

    test('give the signal that ended the command, by name or as 128 and its number', {
      kind: 'process',
    }, async (it) => {
      const site = await it.open()
      for (const [name, number] of [
        ['KILL', 9],
        ['TERM', 15],
      ] as const) {
        const { exitCode, signal } = await site.attempt(`kill -${name} $$; sleep 5`)
        const expected = signal === null ? { exitCode: 128 + number, signal } : { exitCode: null, signal: `SIG${name}` }
        equal({ exitCode, signal }, expected, `the end by SIG${name}`)
      }
    })

    test('keep standard output and standard error apart', {}, async (it) => {
      const site = await it.open()
      const piped = await site.attempt('tr a-z A-Z | { cat; echo oops >&2; exit 7; }', { stdin: 'input' })
      equal([piped.stdout, piped.stderr, piped.exitCode], ['INPUT', 'oops\n', 7], 'the result of a pipe')
      const { stdout, stderr, stdoutBytes, stderrBytes } = await site.attempt('echo out; echo error >&2; echo more')
      equal(
        { stdout, stderr, stdoutBytes, stderrBytes },
        { stdout: 'out\nmore\n', stderr: 'error\n', stdoutBytes: 9, stderrBytes: 6 },
        'the streams',
      )
    })

    test('name the executor and say how long it took', {}, async (it) => {
      const site = await it.open()
      const { executor, duration, truncated } = await site.attempt('true')
      equal({ executor, truncated }, { executor: it.fixture.executor.name, truncated: false }, 'the result')
      check(Number.isFinite(duration) && duration >= 0, `the duration is ${duration}`)
    })

    // only with real processes: the output of an interpreter is text from the start
    test('count the bytes of output that is not UTF-8, and show it as U+FFFD', { kind: 'process' }, async (it) => {
      const site = await it.open()
      await site.workspace.write('bytes', Uint8Array.of(97, 255, 98))
      const { stdout, stdoutBytes } = await site.attempt('cat bytes')
      equal({ stdout, stdoutBytes }, { stdout: 'a\ufffdb', stdoutBytes: 3 }, 'the output')
    })

    test('keep the head and the tail of output that is too long, and say so', {}, async (it) => {
      const site = await it.open()
      const result = await site.attempt('echo HEAD; seq 1 20000; echo TAIL', { maxOutputBytes: 1000 })
      check(result.truncated, 'the result does not say `truncated`')
      equal(result.stdoutBytes, 108_904, 'the bytes that came')
      check(result.stdout.startsWith('HEAD\n1\n'), 'the head is not there')
      check(result.stdout.endsWith('20000\nTAIL\n'), 'the tail is not there')
      check(result.stdout.length < 1_200, `${result.stdout.length} characters were kept`)
    })

    test('give the output as streams too, and to `wait` all the same', {}, async (it) => {
      const site = await it.open()
      const running = await site.workspace.spawn('echo out; echo error >&2', { shell: 'sh', login: false })
      const text = async (stream: AsyncIterable<Uint8Array>): Promise<string> => {
        const decoder = new TextDecoder()
        return (await Array.fromAsync(stream)).map((chunk) => decoder.decode(chunk)).join('')
      }
      equal(await Promise.all([text(running.stdout), text(running.stderr)]), ['out\n', 'error\n'], 'the streams')
      const { stdout, stderr } = await running.wait()
      equal([stdout, stderr], ['out\n', 'error\n'], 'the result')
    })

    test('of commands that run at the same time are not mixed up', {}, async (it) => {
      const site = await it.open()
      const lines = ['one', 'two', 'three', 'four']
      const results = await Promise.all(lines.map((word) => site.run(`x=${word}; sleep 0.05; echo "$x"`)))
      equal(
        results,
        lines.map((word) => `${word}\n`),
        'the output',
      )
    })
  })
}

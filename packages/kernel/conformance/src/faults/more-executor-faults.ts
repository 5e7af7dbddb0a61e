import { WorkspaceError } from '@ws/core'
import type { CommandRequest } from '@ws/core/executor'
import { changeCommand, changeExecutor, changeRequest, changeResult, type ExecutorFault } from './executor-fault.ts'

async function* nothing(): AsyncGenerator<Uint8Array> {
  yield* []
}

type Input = CommandRequest['stdin']

const isStream = (input: Input): input is AsyncIterable<Uint8Array> =>
  typeof input === 'object' && Symbol.asyncIterator in input

function atOnce(input: Input): Input {
  if (!isStream(input)) return input
  return (async function* () {
    yield Buffer.concat(await Array.fromAsync(input))
  })()
}

/** Reads an input stream to its end at once, without backpressure. */
function hoarded(input: Input): Input {
  if (!isStream(input)) return input
  const all = Array.fromAsync(input, (chunk) => Buffer.from(chunk))
  return (async function* () {
    yield* await all
  })()
}

export const moreExecutorFaults: readonly ExecutorFault[] = [
  {
    name: 'never gets impolite with a command that is deaf',
    caughtBy: 'a timeout ends a command that is deaf to polite signals, after the grace',
    base: 'process',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, killGrace: 60_000 })),
  },
  {
    name: 'answers every signal with SIGKILL',
    caughtBy: 'kill passes a signal on, which the command can handle',
    base: 'process',
    apply: (inner) => changeCommand(inner, (running) => ({ kill: () => running.kill('SIGKILL') })),
  },
  {
    name: 'lets a command run on whose holder is gone',
    caughtBy: 'leaving the scope of a running command ends it',
    apply: (inner) =>
      changeCommand(inner, (running) => ({
        [Symbol.asyncDispose]: async () => {
          await running.wait()
        },
      })),
  },
  {
    name: 'drops variables that the caller adds',
    caughtBy: 'holds what the caller adds, byte for byte',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, env: {} })),
  },
  {
    name: 'passes a command as one argument of limited length',
    caughtBy: '[PC24] a command longer than an argument can be runs all the same',
    apply: (inner) =>
      changeExecutor(inner, {
        attached: ({ spawn }) => ({
          spawn: (request, plan) =>
            request.command.length > 131_071
              ? Promise.reject(new WorkspaceError({ code: 'ENOEXEC', operation: 'exec', reason: 'E2BIG' }))
              : spawn(request, plan),
        }),
      }),
  },
  {
    name: 'takes its own shell whatever was asked for',
    caughtBy: 'a program that is not a shell is refused, and nothing runs',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, shell: 'sh' })),
  },
  {
    name: 'streams nothing',
    caughtBy: 'give the output as streams too, and to `wait` all the same',
    apply: (inner) => changeCommand(inner, () => ({ stdout: nothing(), stderr: nothing() })),
  },
  {
    name: 'gives standard output alone as the output of both',
    caughtBy: 'is one text with all of both',
    apply: (inner) => changeResult(inner, (result) => ({ ...result, output: result.stdout })),
  },
  {
    name: 'gives standard output first, whatever came first',
    caughtBy: 'is in the order in which it came',
    base: 'process',
    apply: (inner) => changeResult(inner, (result) => ({ ...result, output: result.stdout + result.stderr })),
  },
  {
    name: 'cuts the output of both without a word',
    caughtBy: 'keeps its own head and tail within the limit',
    apply: (inner) => changeResult(inner, (result) => ({ ...result, truncated: result.stdout.length > 1_000 })),
  },
  {
    name: 'tells no listener of output',
    caughtBy: 'is told to a listener with bytes of its own',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, onOutput: undefined })),
  },
  {
    name: 'forgets the output of a command that is aborted',
    caughtBy: 'is there after an abort, as far as it came',
    apply: (inner) =>
      changeCommand(inner, (running, { signal }) => ({
        output: () => (signal?.aborted ? { ...running.output(), stdout: '', output: '' } : running.output()),
      })),
  },
  {
    name: 'names another signal than the one that ended the command',
    caughtBy: 'is the exit code, or 128 and the number of the signal',
    apply: (inner) => changeResult(inner, (result) => ({ ...result, signal: result.signal && 'SIGHUP' })),
  },
  {
    name: 'waits for the end of an input before the command gets it',
    caughtBy: 'reaches the command at once',
    base: 'process',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, stdin: atOnce(request.stdin) })),
  },
  {
    name: 'takes input without end that the command does not read',
    caughtBy: 'waits for a command that does not read',
    base: 'process',
    apply: (inner) => changeRequest(inner, (request) => ({ ...request, stdin: hoarded(request.stdin) })),
  },
  {
    name: 'serves one workspace only',
    caughtBy: 'one executor serves several workspaces, each with its own files',
    apply: (inner) => {
      let first: ReturnType<typeof inner.attach> | undefined
      return { ...changeExecutor(inner, {}), attach: (view) => (first ??= inner.attach(view)) }
    },
  },
  {
    name: 'cannot be closed twice',
    caughtBy: 'an attached executor is closed once and again',
    apply: (inner) =>
      changeExecutor(inner, {
        attached: ({ close }) => {
          let closed = false
          return {
            async close() {
              if (closed) throw new Error('has been closed')
              closed = true
              await close()
            },
          }
        },
      }),
  },
]

import { WorkspaceError } from '@ws/core'
import { changeCommand, changeExecutor, changeRequest, type ExecutorFault } from './executor-fault.ts'

async function* nothing(): AsyncGenerator<Uint8Array> {
  yield* []
}

/** The rest of the contract: signals, shells, length, streams, closing. */
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

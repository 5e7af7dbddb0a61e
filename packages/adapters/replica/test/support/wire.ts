import type { ChildProcess } from 'node:child_process'

import { isWorkspaceError, WorkspaceError } from '@ws/core'
import { defineAdapter, type Driver, LinkSignal, type StorageAdapter } from '@ws/core/adapter'

/** The operations of a store that a child process asks its parent for. */
const asked = [
  ...(['stat', 'read', 'write', 'createDirectory', 'delete', 'move', 'copy', 'createSymlink', 'readSymlink'] as const),
  ...(['chmod', 'utimes'] as const),
]

interface Question {
  readonly id: number
  readonly operation: (typeof asked)[number] | 'list'
  readonly args: readonly unknown[]
}

type Answer = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly error: object }
  | { readonly link: ConstructorParameters<typeof LinkSignal>[0] }
)

const withoutSignal = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'signal' in value ? { ...value, signal: undefined } : value

/** In the parent: answers a child's questions. `before` and `after` are told the number of each question. */
export function serveStore(
  child: ChildProcess,
  store: StorageAdapter,
  { before, after }: { readonly before: (number: number) => void; readonly after: (number: number) => void },
): void {
  let count = 0
  child.on('message', (message: Question | { readonly kind: string }) => {
    if (!('operation' in message)) return
    const { id, operation, args } = message
    count += 1
    const number = count
    before(number)
    if (child.killed) return
    void (async () => {
      let answer: Answer
      try {
        const run = store[operation]?.bind(store) as (...given: readonly unknown[]) => unknown
        const result =
          operation === 'list' ? await Array.fromAsync(run(...args) as AsyncIterable<unknown>) : await run(...args)
        answer = { id, result }
      } catch (error) {
        answer =
          error instanceof LinkSignal
            ? { id, link: { ...error } }
            : {
                id,
                error: isWorkspaceError(error)
                  ? { ...error, reason: error.reason }
                  : { code: 'EIO', reason: String(error) },
              }
      }
      after(number)
      if (child.connected) child.send(answer)
    })()
  })
}

/** In the child: the parent's store. */
export function askParent(capabilities: StorageAdapter['capabilities']): StorageAdapter {
  let last = 0
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  process.on('message', (answer: Answer) => {
    const one = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('link' in answer) one?.reject(new LinkSignal(answer.link))
    else if ('error' in answer)
      one?.reject(new WorkspaceError(answer.error as ConstructorParameters<typeof WorkspaceError>[0]))
    else one?.resolve(answer.result)
  })
  const ask = (operation: Question['operation'], args: readonly unknown[]): Promise<unknown> => {
    last += 1
    const one = Promise.withResolvers<unknown>()
    waiting.set(last, one)
    process.send?.({ id: last, operation, args: args.map(withoutSignal) } satisfies Question)
    return one.promise
  }
  const driver: Record<string, unknown> = {
    name: 'memory',
    capabilities: { ...capabilities, watch: false, append: undefined, search: undefined },
  }
  for (const operation of asked) driver[operation] = (...args: readonly unknown[]) => ask(operation, args)
  driver['list'] = async function* (...args: readonly unknown[]): AsyncGenerator {
    yield* (await ask('list', args)) as unknown[]
  }
  return defineAdapter(driver as unknown as Driver, { trusted: true })
}

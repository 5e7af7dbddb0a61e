import type { Task } from '../client/requests.ts'
import { waitFor } from '../client/wait.ts'

interface Queue {
  /** Resolves after the last exclusive caller. */
  tail: Promise<void>
  readonly sharing: Set<Promise<void>>
  users: number
  deletes: number
  /** When the last delete has ended, by `performance.now()`. */
  deletedAt: number
}

// one map for the process, because two adapters may use one object
const queues = new Map<string, Queue>()

/** Locks an object against other writers of this process. `exclusive` callers run alone; `shared` and `delete` callers run together. */
export async function withObject<Result>(
  object: string,
  how: 'shared' | 'delete' | 'exclusive',
  task: Pick<Task, 'signal' | 'until'>,
  run: () => Promise<Result>,
): Promise<Result> {
  const queue: Queue = queues.get(object) ?? {
    tail: Promise.resolve(),
    sharing: new Set(),
    users: 0,
    deletes: 0,
    deletedAt: -Infinity,
  }
  queues.set(object, queue)
  queue.users += 1
  const { promise, resolve } = Promise.withResolvers<void>()
  try {
    if (how === 'exclusive') {
      const before = [queue.tail, ...queue.sharing]
      // later callers wait for earlier ones too, even if this caller gives up
      queue.tail = Promise.all([promise, ...before]).then(() => undefined)
      await waitFor(Promise.all(before), task)
      return await run()
    }
    const { tail } = queue
    queue.sharing.add(promise)
    await waitFor(tail, task)
    return await (how === 'delete' ? deleting(queue, run) : run())
  } finally {
    resolve()
    queue.sharing.delete(promise)
    queue.users -= 1
    if (queue.users === 0) queues.delete(object)
  }
}

async function deleting<Result>(queue: Queue, run: () => Promise<Result>): Promise<Result> {
  queue.deletes += 1
  try {
    return await run()
  } finally {
    queue.deletes -= 1
    queue.deletedAt = performance.now()
  }
}

/** Whether this process may have deleted an object since a time (`performance.now()`). Only for callers that have the lock. */
export function mayBeDeletedSince(object: string, time: number): boolean {
  const queue = queues.get(object)
  return queue !== undefined && (queue.deletes > 0 || queue.deletedAt >= time)
}

/** {@link withObject} for several objects, locked in the order of their names, which prevents deadlocks. */
export async function withObjects<Result>(
  objects: readonly string[],
  how: 'delete' | 'exclusive',
  task: Pick<Task, 'signal' | 'until'>,
  run: () => Promise<Result>,
): Promise<Result> {
  const inOrder = objects.toSorted((one, other) => (one < other ? -1 : 1))
  return inOrder.reduceRight((inner, object) => () => withObject(object, how, task, inner), run)()
}

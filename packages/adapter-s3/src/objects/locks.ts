import type { Task } from '../client/requests.ts'
import { waitFor } from '../client/wait.ts'

interface Queue {
  /** Resolves when the last one that asked for all of it is through. */
  tail: Promise<void>
  /** Those who share it now. */
  readonly sharing: Set<Promise<void>>
  users: number
}

// of the process, not of one adapter: two adapters may lead to one object
const queues = new Map<string, Queue>()

/**
 * What the server does not check, this process checks for its own writers: a conditional delete has an object for itself
 * (`exclusive`), writes to it and other deletes share it among themselves. Objects that nobody waits for cost nothing.
 */
export async function withObject<Result>(
  object: string,
  how: 'shared' | 'exclusive',
  task: Pick<Task, 'signal' | 'until'>,
  run: () => Promise<Result>,
): Promise<Result> {
  const queue = queues.get(object) ?? { tail: Promise.resolve(), sharing: new Set<Promise<void>>(), users: 0 }
  queues.set(object, queue)
  queue.users += 1
  const { promise, resolve } = Promise.withResolvers<void>()
  try {
    if (how === 'exclusive') {
      const before = [queue.tail, ...queue.sharing]
      // whoever comes next waits for those before too, also when this one gives up
      queue.tail = Promise.all([promise, ...before]).then(() => undefined)
      await waitFor(Promise.all(before), task)
      return await run()
    }
    const { tail } = queue
    queue.sharing.add(promise)
    await waitFor(tail, task)
    return await run()
  } finally {
    resolve()
    queue.sharing.delete(promise)
    queue.users -= 1
    if (queue.users === 0) queues.delete(object)
  }
}

/** {@link withObject} for several, shared. They are taken in the order of their names, as everywhere: nobody waits in a circle. */
export async function withObjects<Result>(
  objects: readonly string[],
  task: Pick<Task, 'signal' | 'until'>,
  run: () => Promise<Result>,
): Promise<Result> {
  const inOrder = objects.toSorted((one, other) => (one < other ? -1 : 1))
  return inOrder.reduceRight((inner, object) => () => withObject(object, 'shared', task, inner), run)()
}

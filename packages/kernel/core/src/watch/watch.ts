import { perform, type Context } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import type { WatchEvent, WatchOptions } from '../contract/watching.ts'
import { checkOption } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import { EventQueue } from './event-queue.ts'
import { Looks } from './looks.ts'

/** Milliseconds between looks. */
const usualInterval = 1_000
const intervalWithoutHints = 30_000
/** The pause after a look is at least this many times as long as the look. */
const pausePerLook = 10

const usuallyPending = 10_000
const mostPaths = 1_000
const pathsShape = {
  ...option.of(
    `a path, or a list of 1 to ${mostPaths} paths`,
    (value) => Array.isArray(value) && value.length > 0 && value.length <= mostPaths,
  ),
  element: option.string,
  required: true,
} as const

export async function watch(
  context: Context,
  given: string | readonly string[],
  options: WatchOptions = {},
): Promise<AsyncIterableIterator<WatchEvent, undefined>> {
  checkMethod('watch', 'watch', options)
  const paths: readonly string[] = typeof given === 'string' ? [given] : given
  checkOption('watch', 'paths', paths, pathsShape)
  const { recursive = true, maxPending = usuallyPending, signal } = options
  const { watches } = context.state
  let timer: NodeJS.Timeout | undefined
  const end = (failure?: { readonly reason: unknown }): void => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    watches.delete(looks)
    looks.close()
    queue.end(failure)
  }
  const onAbort = (): void => end({ reason: signal?.reason as unknown })
  const queue = new EventQueue(maxPending, end)
  const looks = new Looks({ context, recursive, tell: (root, event) => queue.push(root, event), onEnd: end })
  try {
    watches.add(looks) // a call that ends from now on is looked at
    for (const path of new Set(paths))
      await perform(context, { operation: 'watch', path, signal }, (parsed) => looks.add(parsed.path))
    signal?.throwIfAborted()
  } catch (error) {
    end()
    throw error
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  const { interval = looks.hasHints ? usualInterval : intervalWithoutHints } = options
  const rest = (milliseconds: number): void => {
    if (!watches.has(looks)) return
    timer = setTimeout(() => void poll(), milliseconds)
    timer.unref?.()
  }
  /** Never rejects. */
  const poll = async (): Promise<void> => {
    const began = performance.now()
    await looks.look()
    rest(Math.max(interval, pausePerLook * (performance.now() - began)))
  }
  looks.begin()
  rest(interval)
  return queue
}

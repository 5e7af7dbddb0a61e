import type { CommandResult, RunningCommand } from '../../executor/contract.ts'
import type { SignalOption } from '../../adapter/types.ts'
import type { CommandDoor } from '../commands.ts'
import { write } from '../../files/writing.ts'

export interface TeeOptions extends SignalOption {
  /** Absent: nothing is written. */
  readonly outputFile?: string | undefined
}

export interface Teed {
  readonly running: RunningCommand
  readonly line: string
  /** As `running.wait`, and resolves when the file is there. */
  readonly wait: () => Promise<CommandResult>
}

/**
 * Starts a command whose whole output, both streams as they come, also goes into a file of the workspace, through the
 * workspace's own `write`. The policy is asked before the command starts, and the file appears when it has ended. A
 * slow store slows the command down.
 *
 * @throws what `write` and `launch` throw; the command does not run when the file may not be written
 */
export async function teeToFile(
  { context }: CommandDoor,
  { outputFile, signal }: TeeOptions,
  launch: () => Promise<{ readonly running: RunningCommand; readonly line: string }>,
): Promise<Teed> {
  if (outputFile === undefined) {
    const { running, line } = await launch()
    return { running, line, wait: () => running.wait() }
  }
  const asked = Promise.withResolvers<void>()
  const source = Promise.withResolvers<AsyncIterable<Uint8Array>>()
  source.promise.catch(() => undefined)
  async function* body(): AsyncGenerator<Uint8Array> {
    asked.resolve()
    yield* await source.promise
  }
  const written = write(context, outputFile, body(), { signal })
  written.catch(() => undefined)
  await Promise.race([asked.promise, written])
  let running: RunningCommand
  let line: string
  try {
    ;({ running, line } = await launch())
  } catch (error) {
    source.reject(error)
    await written.catch(() => undefined)
    throw error
  }
  source.resolve(merge([running.stdout, running.stderr]))
  // A file that cannot be written any more ends the command: its output would be lost without a word.
  written.catch(() => running.kill('SIGKILL'))
  return {
    running,
    line,
    async wait() {
      const result = await running.wait()
      await written
      return result
    },
  }
}

/** Chunks of several streams in the order in which they come; a slow reader slows all of them down. */
async function* merge(streams: readonly AsyncIterable<Uint8Array>[]): AsyncGenerator<Uint8Array> {
  const offers: { readonly chunk: Uint8Array; readonly take: () => void }[] = []
  let open = streams.length
  let stopped = false
  let wake: (() => void) | undefined
  async function pump(stream: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of stream) {
        if (stopped) return
        await new Promise<void>((take) => {
          offers.push({ chunk, take })
          wake?.()
        })
      }
    } finally {
      open--
      wake?.()
    }
  }
  const pumps = Promise.all(streams.map(pump))
  pumps.catch(() => undefined)
  try {
    for (;;) {
      const offer = offers.shift()
      if (offer !== undefined) {
        yield offer.chunk
        offer.take()
      } else if (open === 0) break
      else await new Promise<void>((resolve) => (wake = resolve))
    }
    await pumps
  } finally {
    stopped = true
    for (const { take } of offers) take()
  }
}

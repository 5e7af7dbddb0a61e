import { setTimeout as delay } from 'node:timers/promises'

import type { Session } from '@ws/core'

import type { Output } from './output.ts'

/** The size of this process's terminal; `undefined` if standard input or output is not a terminal. */
export function ownTerminal(): { readonly columns: number; readonly rows: number } | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined
  const { columns, rows } = process.stdout
  return { columns: columns || 80, rows: rows || 24 }
}

/** Connects keys, size and output with a session. Restores the terminal's mode on every exit. */
export async function attachTerminal(session: Session, output: Output): Promise<void> {
  const { stdin, stdout } = process
  const restore = (): void => void stdin.setRawMode(false)
  // a write fails only after the session's end, which the session's result reports
  const onKeys = (keys: Uint8Array): void => void session.write(keys).catch(() => undefined)
  const onResize = (): void => {
    try {
      session.resize(stdout.columns || 80, stdout.rows || 24)
    } catch {
      // the session has just ended
    }
  }
  process.once('exit', restore)
  stdin.setRawMode(true)
  stdin.on('data', onKeys)
  stdout.on('resize', onResize)
  try {
    await printUntilEnd(session, output)
  } finally {
    stdin.off('data', onKeys)
    stdout.off('resize', onResize)
    stdin.pause()
    restore()
    process.removeListener('exit', restore)
  }
}

export async function attachPipes(
  session: Session,
  output: Output,
  input: AsyncIterable<Uint8Array> | undefined,
): Promise<void> {
  const type = async (): Promise<void> => {
    let last = 10
    for await (const chunk of input ?? []) {
      last = chunk.at(-1) ?? last
      await session.write(chunk)
    }
    if (input !== undefined) await typeEnd(session, last !== 10 && last !== 13)
  }
  const printing = printUntilEnd(session, output)
  const typing = type().then(
    () => printing,
    async (error: unknown) => {
      // An ended session needs no input.
      if (session.closed) return await printing
      await session.close()
      throw error
    },
  )
  await Promise.race([typing, printing])
}

const endOfFile = '\x04'
const endOfFileInterval = 200

/**
 * Sends the end-of-file key until the session ends.
 * One key is not enough: a shell may lose the key while it starts, and each program consumes a key.
 */
async function typeEnd(session: Session, unfinishedLine: boolean): Promise<void> {
  for (let attempt = 0; !session.closed; attempt++) {
    // After an unfinished line, the first key only submits that line; a line editor ignores the key in such a line.
    const first = unfinishedLine && attempt === 0 ? endOfFile : ''
    const finish = unfinishedLine && attempt === 2 ? '\r' : ''
    await session.write(`${first}${finish}${endOfFile}`)
    await Promise.race([session.wait(), delay(endOfFileInterval, undefined, { ref: false })])
  }
}

/** Prints chunks in order. Waits at the end until all chunks are printed. */
async function printUntilEnd(session: Session, output: Output): Promise<void> {
  let printed: Promise<unknown> = Promise.resolve()
  const stop = session.onData(
    (chunk) => {
      const bytes = Uint8Array.from(chunk)
      printed = printed.then(() => output.bytes(bytes)).catch(() => undefined) // a closed output ends the attachment by its own event
    },
    { since: 0 },
  )
  try {
    await session.wait()
  } finally {
    stop()
    await printed
  }
}

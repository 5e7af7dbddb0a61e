import { randomUUID } from 'node:crypto'

import type { KillSignal } from '@ws/core/executor'

import { createOutputChannel } from '../run/output-channel.ts'
import type { OutputListener } from '../run/types.ts'
import { createMarkFilter } from '../terminal/marks.ts'
import { checkSize, type TerminalDevice } from '../terminal/start.ts'
import { mostWaiting } from '../terminal/writer.ts'
import type { CommandPort } from './driver.ts'

export interface OwnTerminal extends Omit<TerminalDevice, 'descriptor' | 'signal'> {
  readonly size: { readonly columns: number; readonly rows: number }
  signal(name: KillSignal): boolean
  readonly onOutput: OutputListener
  bind(port: CommandPort): void
}

export function createOwnTerminal(size: OwnTerminal['size']): OwnTerminal {
  checkSize(size)
  const channel = createOutputChannel()
  const marks = createMarkFilter()
  const startMark = `\u001b]${randomUUID()}\u0007`
  let startOffset: number | undefined
  let port: CommandPort | undefined
  let isOver = false
  async function finish(): Promise<void> {
    if (isOver) return
    isOver = true
    void channel.push(marks.end())
    channel.end()
    port?.stdin?.destroy()
  }
  return {
    size,
    startMark,
    get startOffset() {
      return startOffset
    },
    expectStart: () => marks.expect(startMark, (offset) => (startOffset = offset)),
    output: channel.output,
    onOutput: (chunk) => (isOver ? undefined : channel.push(marks.push(Buffer.from(chunk)))),
    bind(started) {
      port = started
      // A program may end before it has read all input.
      port.stdin?.on('error', () => undefined)
    },
    releaseDescriptor: () => undefined,
    async write(data) {
      const stdin = port?.stdin
      if (isOver || stdin?.writable !== true) return 'closed'
      if (stdin.writableLength + data.length > mostWaiting) return 'full'
      return new Promise((resolve) =>
        stdin.write(Uint8Array.from(data), (error) => resolve(error ? 'closed' : 'written')),
      )
    },
    resize(columns, rows) {
      checkSize({ columns, rows })
      return !isOver && port?.resize?.(columns, rows) === true
    },
    signal: (name) => !isOver && port?.signal(name, name === 'SIGHUP' ? 'everyone' : 'command') === true,
    finish,
    [Symbol.asyncDispose]: finish,
  }
}

/** Returns whether the terminal is a device of this machine, whose session one of our processes leads. */
export function isLocal(terminal: TerminalDevice | OwnTerminal | undefined): terminal is TerminalDevice {
  return terminal !== undefined && 'descriptor' in terminal
}

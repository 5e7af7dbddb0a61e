import type { CommandOutput, OutputChunk, ShellState } from '@ws/core'
import { BothStreams, type CommandRequest, type StartedCommand, utf8 } from '@ws/core/executor'

import { createOutputChannel, createRing, type Ring } from './output-channel.ts'
import type { CapturedOutput, OutputListener } from './types.ts'

export interface OutputCapture {
  /** Copies the bytes that it keeps, since the caller may reuse the chunk. */
  push(chunk: Uint8Array): void
  result(): CapturedOutput
  copy(): OutputCapture
}

/** Keeps the first and last bytes of a stream: up to `maxBytes` in total, half for each end. Does not cut UTF-8 characters. */
export function captureOutput(options: { readonly maxBytes: number }): OutputCapture {
  const headLimit = Math.ceil(options.maxBytes / 2)
  return capture({
    headLimit,
    head: createRing(headLimit),
    tail: createRing(options.maxBytes - headLimit),
    totalBytes: 0,
  })
}

interface Kept {
  readonly headLimit: number
  readonly head: Ring
  readonly tail: Ring
  readonly totalBytes: number
}

function capture({ headLimit, head, tail, totalBytes: before }: Kept): OutputCapture {
  let totalBytes = before
  return {
    push(chunk) {
      totalBytes += chunk.length
      const room = headLimit - head.length()
      if (room > 0) head.push(chunk.subarray(0, room))
      if (chunk.length > room) tail.push(chunk.subarray(room))
    },
    result() {
      return assemble(head.content(), tail.content(), totalBytes)
    },
    copy: () => capture({ headLimit, head: head.clone(), tail: tail.clone(), totalBytes }),
  }
}

function assemble(first: Buffer, last: Buffer, totalBytes: number): CapturedOutput {
  if (first.length + last.length === totalBytes) {
    const whole = last.length === 0 ? first : Buffer.concat([first, last])
    return { text: whole.toString('utf8'), head: whole, tail: empty, totalBytes, omittedBytes: 0, truncated: false }
  }
  const head = first.subarray(0, utf8.completeLength(first))
  const tail = last.subarray(utf8.strayLength(last))
  const omittedBytes = totalBytes - head.length - tail.length
  const text = `${head.toString('utf8')}\n[… ${omittedBytes} bytes omitted …]\n${tail.toString('utf8')}`
  return { text, head, tail, totalBytes, omittedBytes, truncated: true }
}

const empty = Buffer.alloc(0)

type Streams = BothStreams<OutputCapture>

export interface CommandOutputs {
  /** Call this with each chunk. */
  readonly onStdout: OutputListener
  readonly onStderr: OutputListener
  readonly readers: Pick<StartedCommand, 'stdout' | 'stderr' | 'output'>
  /** Call this after the last chunk. Ends the streams, and returns the parts of the result. May be called twice. */
  end(): CommandOutput
  /** Returns true if output arrived after the end and was dropped. */
  isLate(): boolean
  /** Returns the state that the shell reported among its output. */
  readonly shellState?: (() => ShellState | undefined) | undefined
}

/** Captures both streams, each alone and both combined in the order of calls, in constant memory. Also feeds the readers and the listener. */
export function createCommandOutput({
  maxOutputBytes,
  onOutput,
}: Pick<CommandRequest, 'maxOutputBytes' | 'onOutput'>): CommandOutputs {
  /** The captures; after the end, only their texts. */
  let kept: Streams | CommandOutput = new BothStreams(() => captureOutput({ maxBytes: maxOutputBytes }))
  let isLate = false
  const channels = { stdout: createOutputChannel(), stderr: createOutputChannel() }
  const listen =
    (stream: OutputChunk['stream']): OutputListener =>
    (data) => {
      if (data.length === 0) return
      const chunk = { stream, data }
      if (!(kept instanceof BothStreams)) {
        isLate = true
        return
      }
      kept.push(chunk)
      onOutput?.(chunk)
      return channels[stream].push(data)
    }
  return {
    onStdout: listen('stdout'),
    onStderr: listen('stderr'),
    readers: {
      stdout: channels.stdout.output,
      stderr: channels.stderr.output,
      output: () => (kept instanceof BothStreams ? outputOf(kept) : kept),
    },
    end() {
      if (kept instanceof BothStreams) {
        kept.end()
        kept = outputOf(kept)
      }
      channels.stdout.end()
      channels.stderr.end()
      return kept
    },
    isLate: () => isLate,
  }
}

function outputOf(streams: Streams): CommandOutput {
  const [stdout, stderr] = [streams.stdout.result(), streams.stderr.result()]
  const both =
    streams.both === streams.stdout ? stdout : streams.both === streams.stderr ? stderr : streams.both.result()
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    output: both.text,
    stdoutBytes: stdout.totalBytes,
    stderrBytes: stderr.totalBytes,
    truncated: stdout.truncated || stderr.truncated || both.truncated,
  }
}

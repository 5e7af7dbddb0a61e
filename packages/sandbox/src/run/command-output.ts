import { BothStreams, type CommandRequest, type StartedCommand } from '@ws/core/executor'
import type { CommandOutput, OutputChunk } from '@ws/core'

import { captureOutput, type OutputCapture } from './capture.ts'
import { createOutputChannel } from './output-channel.ts'
import type { OutputListener } from './types.ts'

type Streams = BothStreams<OutputCapture>

/** Everything about the output of a command: what an executor gives, made of the chunks that it reads. */
export interface CommandOutputs {
  /** To be called with each chunk when it is read: listeners of `startProcess`, for instance. */
  readonly onStdout: OutputListener
  readonly onStderr: OutputListener
  readonly readers: Pick<StartedCommand, 'stdout' | 'stderr' | 'output'>
  /** To be called once when no more will come. Ends the streams, and gives the parts of a result. Twice is fine. */
  end(): CommandOutput
  /** Some came after that, and is lost. */
  isLate(): boolean
}

/**
 * Captures both streams of a command, each and both in one, in constant memory; hands them to readers, and to the listener
 * of the request. The order of both in one is the order of the calls: that in which this process read them.
 */
export function createCommandOutput({
  maxOutputBytes,
  onOutput,
}: Pick<CommandRequest, 'maxOutputBytes' | 'onOutput'>): CommandOutputs {
  /** From the end on, the texts alone. */
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
      output: () => (kept instanceof BothStreams ? describe(kept) : kept),
    },
    end() {
      if (kept instanceof BothStreams) {
        kept.end()
        kept = describe(kept)
      }
      channels.stdout.end()
      channels.stderr.end()
      return kept
    },
    isLate: () => isLate,
  }
}

function describe(streams: Streams): CommandOutput {
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

import type { RunEvent } from '@ws/runner/run-plan'

import { escapeJson, escapeName } from './escape.ts'
import type { Output } from './output.ts'
import type { Style } from './style.ts'
import { wrapWords } from './wrap.ts'

export interface RunView {
  show(event: RunEvent): void
  end(): void
}

export interface RunViewOptions {
  readonly output: Output
  readonly style: Style
  readonly steps: number
}

/** Prints a line for each ended step, and on a terminal also for running steps. With JSON, prints a value for each event. */
export function createRunView({ output, style, steps }: RunViewOptions): RunView {
  const running = new Set<string>()
  let ended = 0
  const isLive = output.terminal && !output.json
  const clear = isLive ? '\r\u001b[K' : ''
  const draw = (): void => {
    if (!isLive || running.size === 0) return
    const line = `${ended}/${steps} ${[...running].join(', ')}`
    process.stdout.write(clear + style.dim(line.slice(0, Math.max(10, style.width - 1))))
  }
  return {
    show(event) {
      if (output.json) {
        process.stdout.write(`${escapeJson(JSON.stringify(event))}\n`)
        return
      }
      if (event.type === 'start') {
        running.add(event.step)
        if (event.attempt > 1) process.stdout.write(`${clear}${style.note('again')}   ${event.step}\n`)
      } else {
        running.delete(event.step)
        ended += 1
        const text = stepLine(event, style)
        const wrapped = output.terminal ? wrapWords(text, style.width, ' '.repeat(columns)) : text
        process.stdout.write(`${clear}${wrapped}\n`)
      }
      draw()
    },
    end() {
      process.stdout.write(clear)
    },
  }
}

const columns = 8

function stepLine({ step, end }: Extract<RunEvent, { type: 'end' }>, style: Style): string {
  const state = end.state.padEnd(columns)
  if (end.state === 'failed') return `${style.bad(state)}${step}: ${escapeName(end.failure?.message ?? 'failed')}`
  if (end.state === 'skipped') return `${style.note(state)}${step}: \`${end.because}\` failed`
  return `${end.state === 'done' ? style.good(state) : style.dim(state)}${step}`
}

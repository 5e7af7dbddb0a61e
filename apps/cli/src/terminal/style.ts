import { styleText } from 'node:util'

import { screenWidth } from './wrap.ts'

export interface Style {
  /** Columns of the terminal, at least 40; 100 without a terminal. */
  readonly width: number
  good(text: string): string
  bad(text: string): string
  note(text: string): string
  dim(text: string): string
  strong(text: string): string
}

/** Styles with colours on a terminal that supports colours, except under NO_COLOR. */
export function createStyle(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): Style {
  const colours = stream.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
  const paint =
    (format: Parameters<typeof styleText>[0]) =>
    (text: string): string =>
      colours ? styleText(format, text, { validateStream: false }) : text
  return {
    width: stream.isTTY ? screenWidth(stream) : 100,
    good: paint('green'),
    bad: paint(['bold', 'red']),
    note: paint('yellow'),
    dim: paint('dim'),
    strong: paint('bold'),
  }
}

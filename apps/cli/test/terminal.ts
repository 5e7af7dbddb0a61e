import { spawn } from '@lydell/node-pty'

import { wsForShell } from './ws.ts'

export interface OnTerminal {
  /** Everything that was printed so far. */
  text(): string
  /** Resolves when it was printed. */
  printed(text: string): Promise<void>
  /** As if it was typed. */
  write(text: string): void
  /** Resolves when the line has ended and all that it printed was read. */
  readonly ended: Promise<void>
}

/** Runs `ws` and what follows it, a line of the shell, on a terminal. */
export function onTerminal(line: string, size: { readonly cols: number; readonly rows: number }): OnTerminal {
  const env = { PATH: '/usr/bin:/bin', NO_COLOR: '1', TERM: 'xterm' }
  const terminal = spawn('/bin/sh', ['-c', `${wsForShell} ${line}`], { ...size, env })
  let text = ''
  const waiting = new Map<string, () => void>()
  terminal.onData((data) => {
    text += data
    for (const [wanted, resolve] of waiting) if (text.includes(wanted)) resolve()
  })
  return {
    text: () => text,
    printed: (wanted) => new Promise((resolve) => void waiting.set(wanted, resolve)),
    write: (typed) => terminal.write(typed),
    ended: new Promise((resolve) => terminal.onExit(() => resolve())),
  }
}

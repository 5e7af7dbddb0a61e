import { PassThrough } from 'node:stream'

import { expect, it, vi } from 'vitest'

import { startProgress } from '../src/terminal/progress.ts'
import { createStyle } from '../src/terminal/style.ts'
import { complainTo, screenWidth, wrapWords } from '../src/terminal/wrap.ts'
import { ws } from './ws.ts'

function screen(properties: object) {
  const stream = Object.assign(new PassThrough(), properties) as unknown as NodeJS.WriteStream & PassThrough
  return { stream, text: () => String(stream.read() ?? '') }
}

it('colours are for terminals that want them', () => {
  const [{ stream: terminal }, { stream: pipe }] = [screen({ isTTY: true, columns: 80 }), screen({})]
  expect(createStyle(terminal, {}).good('ok')).toBe('\u001b[32mok\u001b[39m')
  for (const plain of [
    createStyle(terminal, { NO_COLOR: '1' }),
    createStyle(terminal, { TERM: 'dumb' }),
    createStyle(pipe, {}),
  ]) {
    expect(plain.good('ok')).toBe('ok')
  }
})

it('the width is that of the terminal, never less than 40', () => {
  const widths = [{ isTTY: true, columns: 120 }, { isTTY: true, columns: 10 }, { isTTY: true, columns: 0 }, {}]
  expect(widths.map((one) => screenWidth(screen(one).stream))).toEqual([120, 40, 80, 80])
})

it('messages are wrapped at words on a terminal, and one line elsewhere', () => {
  const terminal = screen({ isTTY: true, columns: 40 })
  complainTo(terminal.stream, 'EACCES: read: `/notes/a.md` is denied; ask the user')
  expect(terminal.text()).toBe('ws: EACCES: read: `/notes/a.md` is\n    denied; ask the user\n')
  const pipe = screen({})
  complainTo(pipe.stream, 'a'.repeat(50) + ' b')
  expect(pipe.text()).toBe(`ws: ${'a'.repeat(50)} b\n`)
  expect(wrapWords('a-long-word x', 4)).toBe('a-long-word\nx')
  expect(wrapWords('\u001b[1;31mred\u001b[39m ok', 6)).toBe('\u001b[1;31mred\u001b[39m ok')
})

it('progress shows on a terminal after a while, goes for other text, and leaves nothing', () => {
  vi.useFakeTimers()
  try {
    const { stream, text } = screen({ isTTY: true, columns: 24 })
    const progress = startProgress(stream, 'searching /a-long-directory', { env: {} })
    vi.advanceTimersByTime(900)
    expect(text()).toBe('')
    vi.advanceTimersByTime(600)
    expect(text().split('\r\u001b[K').slice(-1)).toEqual(['searching /a-long-direc'])
    progress.clear()
    progress.clear()
    expect(text()).toBe('\r\u001b[K')
    vi.advanceTimersByTime(500)
    text()
    progress[Symbol.dispose]()
    vi.advanceTimersByTime(5000)
    expect(text()).toBe('\r\u001b[K')
    const pipe = screen({})
    using _none = startProgress(pipe.stream, 'copying', { env: {} })
    vi.advanceTimersByTime(5000)
    expect(pipe.text()).toBe('')
  } finally {
    vi.useRealTimers()
  }
})

const paths = ['exec', 'session', 'ps', 'kill', 'tool', 'mcp', 'run', 'init', 'trust', 'doctor', 'explain', 'verify']
const files = ['ls', 'tree', 'glob', 'cat', 'write', 'edit', 'stat', 'mkdir', 'cp', 'mv', 'rm', 'flush', 'search']
const thread = ['open', 'status', 'exec', 'ls', 'skills', 'list', 'delete', 'export', 'import']

it('every help fits 80 columns', async () => {
  const all = [[], ['thread'], ...[...paths, ...files].map((name) => [name]), ...thread.map((name) => ['thread', name])]
  for (const command of all) {
    const { code, stdout } = await ws([...command, '--help'])
    expect(code).toBe(0)
    const wide = stdout.split('\n').filter((line) => line.length > 80)
    expect(wide, command.join(' ')).toEqual([])
  }
})

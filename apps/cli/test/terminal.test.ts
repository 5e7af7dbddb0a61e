import { spawn } from 'node:child_process'

import { describe, expect, it } from 'vitest'

import { escapeName } from '../src/terminal/escape.ts'
import { renderTable } from '../src/terminal/table.ts'
import { createProject, end, wsForShell } from './ws.ts'

describe('names on a terminal', () => {
  it('cannot control it, and stay distinct', () => {
    expect(escapeName('plain größe 日本')).toBe('plain größe 日本')
    expect(escapeName('a\nb\tc\rd\u001b[31m\u007f\u009b\u202e\ufeff')).toBe(
      'a\\nb\\tc\\rd\\u{1b}[31m\\u{7f}\\u{9b}\\u{202e}\\u{feff}',
    )
    expect(escapeName('a\\n')).not.toBe(escapeName('a\n'))
  })

  it('[PC21] ls escapes them there, and only there', async () => {
    await using project = await createProject({ 'red \u001b[31m': '' })
    const line = `${wsForShell} --root ${project.path} ls`
    // script(1) is the terminal
    const onTerminal = await end(spawn('script', ['-qec', line, '/dev/null'], { stdio: ['ignore', 'pipe', 'pipe'] }))
    expect(onTerminal.stdout).toBe('red \\u{1b}[31m\r\n')
    const inPipe = await end(spawn('/bin/sh', ['-c', line], { stdio: ['ignore', 'pipe', 'pipe'] }))
    expect(inPipe.stdout).toBe('red \u001b[31m\n')
  })
})

it('ws mcp says on a terminal what it waits for', async () => {
  await using project = await createProject({})
  // script(1) is the terminal, and ends its input at once
  const line = `${wsForShell} --root ${project.path} mcp`
  const { stdout } = await end(spawn('script', ['-qec', line, '/dev/null'], { stdio: ['ignore', 'pipe', 'pipe'] }))
  expect(stdout).toContain('ws: waiting for an MCP client on standard input; Ctrl-C ends it\r\n')
})

describe('renderTable', () => {
  it('aligns columns without lines, wide characters included', () => {
    const rows = [
      ['日本', '1'],
      ['a', '22'],
    ]
    expect(renderTable(rows, { head: ['name', 'n'], right: [1] })).toBe('name   n\n日本   1\na     22')
  })
})

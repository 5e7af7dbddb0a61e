import { execFileSync, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { escapeName, escapeText } from '../src/terminal/escape.ts'
import { renderTable } from '../src/terminal/table.ts'
import { createProject, end, ws, wsForShell } from './ws.ts'

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
    const list = (terminals: readonly 'stdout'[]) => ws(['--root', project.path, 'ls'], { terminals })
    expect((await list(['stdout'])).stdout).toBe('red \\u{1b}[31m\n')
    expect((await list([])).stdout).toBe('red \u001b[31m\n')
  })

  it('[PC21] ls escapes them there, and only there, in a process of its own', { tags: 'all' }, async () => {
    await using project = await createProject({ 'red \u001b[31m': '' })
    const line = `${wsForShell} --root ${project.path} ls`
    // script(1) is the terminal
    const onTerminal = await end(spawn('script', ['-qec', line, '/dev/null'], { stdio: ['ignore', 'pipe', 'pipe'] }))
    expect(onTerminal.stdout).toBe('red \\u{1b}[31m\r\n')
    const inPipe = await end(spawn('/bin/sh', ['-c', line], { stdio: ['ignore', 'pipe', 'pipe'] }))
    expect(inPipe.stdout).toBe('red \u001b[31m\n')
  })
})

describe('[TL6] what acts on a terminal', () => {
  const raw = 'a\u001b]0;t\u0007b\u009b\u202e é\r\n\tc\n'
  const shown = 'a\\u{1b}]0;t\\u{7}b\\u{9b}\\u{202e} é\r\n\tc\n'

  it('is written out in content, and colours of ws stay', () => {
    expect(escapeText(raw)).toBe(shown)
    expect(escapeText('\u001b[1;31mred\u001b[2J', { colours: true })).toBe('\u001b[1;31mred\\u{1b}[2J')
  })

  it('is written out by each command, and only on a terminal', async () => {
    const call = JSON.stringify({ tool: 'read_file', arguments: { path: 'f' } })
    await using project = await createProject({ f: raw, 'n\u001b[2J': '' })
    await using calls = await createProject({ 'call.json': call })
    const cases: [string[], string, string][] = [
      [['cat', 'f'], shown, raw],
      [['ls', '-0'], 'f\\u{0}n\\u{1b}[2J\\u{0}', 'f\0n\u001b[2J\0'],
      [['search', 'a'], '/f:1:a\\u{1b}]0;t\\u{7}b\\u{9b}\\u{202e} é', '/f:1:a\u001b]0;t\u0007b\u009b\u202e é'],
      [['tool', '--face', 'openai', join(calls.path, 'call.json')], '', ''],
      [['--json', 'cat', 'f'], '\\u009b\\u202e', '\u009b\u202e'],
      [['explain', 'read', 'n\u001b[2J'], 'n\\u{1b}[2J', 'n\u001b[2J'],
    ]
    for (const [args, escaped, plain] of cases) {
      const given = ['--root', project.path, ...args]
      const terminal = await ws(given, { terminals: ['stdout'] })
      expect(terminal.stdout, args.join(' ')).toContain(escaped)
      expect(terminal.stdout.replaceAll(/[\r\n\t]/gu, ''), args.join(' ')).not.toMatch(/[\p{Cc}\u202e]/u)
      expect((await ws(given, { terminals: ['stderr'] })).stdout, args.join(' ')).toContain(plain)
    }
  })

  it('is decided by the stream that is written to: names on standard error, and a diff', async () => {
    const own = { uid: process.getuid?.() ?? ordinaryOwner().uid, gid: process.getgid?.() ?? ordinaryOwner().gid }
    await using scratch = await createScratchDirectory({ owner: own })
    const root = join(scratch.path, 'project')
    await mkdir(root)
    await writeFile(join(root, 'f'), 'one\n')
    execFileSync('mkfifo', [join(root, 'pipe\u001b[2J\nws: x')])
    const call = (terminals: ('stdout' | 'stderr')[], ...args: string[]) =>
      ws(['--root', root, ...args], { terminals, env: { XDG_STATE_HOME: join(scratch.path, 'state') } })
    expect((await call(['stderr'], 'checkpoint')).stderr).toMatch(
      /^ws: \/workspace\/pipe\\u\{1b\}\[2J\\nws: x was left out: \P{Cc}+\n$/u,
    )
    expect((await call(['stdout'], 'checkpoint')).stderr).toContain('ws: /workspace/pipe\u001b[2J\nws: x was left out')
    await writeFile(join(root, 'f'), raw)
    expect((await call(['stdout'], 'diff')).stdout).toContain(`+${shown.slice(0, -2)}`.split('\r')[0])
    expect((await call(['stderr'], 'diff')).stdout).toContain(`+${raw}`.split('\r')[0])
    const env = { XDG_STATE_HOME: join(scratch.path, 'state'), NO_COLOR: '' }
    const colours = await ws(['--root', root, 'diff', 'f'], { terminals: ['stdout'], env })
    for (const start of ['\u001b[1m--- ', '\u001b[33m@@ ']) expect(colours.stdout).toContain(start)
    expect(colours.stdout).toContain('\u001b[1m\u001b[31m-one\u001b[39m\u001b[22m\n')
    expect(colours.stdout).toContain(`\u001b[32m+${shown.split('\r')[0]}\u001b[39m`)
  })
})

it('ws mcp says on a terminal what it waits for', { tags: 'all' }, async () => {
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

  it('[PC21] wraps a narrow column at blanks, and keeps each word whole', () => {
    const text = 'the rule `deny(secret)` of /workspace/long/path.json'
    for (const width of [1, 5, 12, 30]) {
      const lines = renderTable([['why', text]], { widths: [4, width] }).split('\n')
      expect(lines.flatMap((line) => line.slice(5).trim().split(' '))).toEqual(text.split(' '))
      expect(lines.every((line) => line.length <= 6 + Math.max(width, '/workspace/long/path.json'.length))).toBe(true)
    }
  })
})

/** @module-tag all */
import { afterAll, describe, expect, it } from 'vitest'

import { open, run } from './support.ts'

const small = {
  maxCommands: 500,
  maxLoopIterations: 300,
  maxCallDepth: 20,
  maxOutputBytes: 100_000,
  maxFileBytes: 200_000,
}

const limited = await open({ executor: { limits: small }, files: { '/big': 'x'.repeat(300_000) } })
afterAll(() => limited.close())

describe('beyond its limits a command ends with 126 and says why', () => {
  it.each([
    ['loops', 'while true; do :; done', /maxLoopIterations|maxCommandCount|iterations/],
    ['commands', 'f() { true; true; true; true; }; for i in {1..290}; do f; done', /too many commands/],
    ['recursion', 'f() { f; }; f', /recursion depth/],
    ['fork bombs', 'b() { b | b; }; b', /recursion depth|too many commands/],
    ['output', 'for i in {1..200}; do printf "%1000d" 1; done', /output size/],
    ['strings', 'x=aaaaaaaaaaaaaaaaaaaa; while true; do x=$x$x; done', /limit exceeded/],
    ['substitutions', 's="$(seq 1 290)"; for i in {1..290}; do s="$s$s"; done', /limit exceeded/],
    ['awk', "awk 'BEGIN { while (1) {} }'", /iterations/],
    ['sed', "echo a | sed ':a;ba'", /limit|iteration/],
    ['jq', "jq -n '[range(1e9)]'", /limit|too/i],
    ['widths', 'printf "%0900000000d" 1', /limit/],
    ['reading', 'head -c 10 /big', /File too large|limit/],
    [
      'long lines',
      'for c in "grep -c x" sort "wc -l" "cut -c1" "sed p" tail; do $c /big && exit 0; done',
      /(?:[^\n]*: [^\n]*File too large\n){6}/,
    ],
    ['long lines in variables', 'read -r line < /big || [ -z "$line" ]; x=$(< /big); [ -n "$x" ]', /File too large/],
  ])('%s', async (_, command, words) => {
    const result = await limited.exec(command, { timeout: 50_000 })
    expect(result.timedOut).toBe(false)
    expect(result.exitCode).toBeGreaterThan(0)
    expect(result.stderr).toMatch(words)
    expect(await run(limited, 'echo alive')).toBe('alive\n')
  })

  it('names with many stars are matched at once', async () => {
    await using workspace = await open({ files: { [`/${'a'.repeat(250)}`]: '' } })
    const stars = '*a'.repeat(60)
    const command = `find . -name '${stars}b'; find . -name '${stars}*' | wc -l; case ${'a'.repeat(250)} in ${stars}b) ;; *) echo no;; esac`
    expect(await run(workspace, command)).toBe('1\nno\n')
  })

  it('standard input', async () => {
    const result = await limited.exec('cat', { stdin: 'x'.repeat(300_000) })
    expect(result).toMatchObject({ exitCode: 1, stderr: 'bash: standard input is larger than 200000 bytes\n' })
  })

  it('a flood of output is cut, and what is kept is told', async () => {
    await using workspace = await open()
    const result = await workspace.exec('seq 1 90000; seq 1 90000', { maxOutputBytes: 10_000 })
    expect(result).toMatchObject({ exitCode: 0, truncated: true, stdoutBytes: 1_057_788 })
    expect(result.stdout.length).toBeLessThan(10_100)
  })

  it('memory: the thread ends, and nothing else', async () => {
    await using workspace = await open({
      executor: {
        limits: { maxMemory: 64 * 1024 * 1024, maxCommands: 1e9, maxLoopIterations: 1e9, maxFileBytes: 1e9 },
      },
    })
    const command = `awk 'BEGIN { while (1) a[n++] = sprintf("%1000000d", n) "" }'`
    const result = await workspace.exec(command, { timeout: 60_000 })
    expect(result.timedOut).toBe(false)
    expect([result.signal === 'SIGKILL', (result.exitCode ?? 0) > 0]).toContain(true)
    expect(result.stderr).toMatch(/memory|limit/)
    expect(await run(workspace, 'echo alive')).toBe('alive\n')
  }, 90_000)
})

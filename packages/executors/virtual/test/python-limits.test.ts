import { afterAll, describe, expect, it, vi } from 'vitest'

import { expectBounded, open, run } from './support.ts'

const mebibyte = 1024 * 1024
const limits = { maxOutputBytes: 4 * mebibyte, maxMemory: 128 * mebibyte }
const workspace = await open({ at: '/workspace', executor: { python: true, limits } })
afterAll(() => workspace.close())

describe('[EX1] a python program', () => {
  it('that ignores what it lacks has failed', async () => {
    const { stdout, stderr, exitCode } = await workspace.exec('python3 -c "import os; print(os.system(\'ls\'))"')
    expect({ stdout, exitCode }).toEqual({ stdout: '32512\n', exitCode: 126 })
    expect(stderr).toContain('os.system: python cannot start programs here')
  })

  it.each([
    ['one string', '"x" * (2 * 10**8)', /MemoryError/],
    [
      'files',
      'a = []\nfor i in range(100): f = open(str(i), "w"); f.write("x" * 10**7); f.flush(); a.append(f)',
      /MemoryError|memory/,
    ],
    ['descriptors', 'a = []\nfor i in range(100000): a.append(open("file.txt"))', /No file descriptors available/],
    [
      'small output',
      'import os\nwhile True: os.write(1, b"x"); os.write(2, b"y")',
      /more than 4194304 bytes of output/,
    ],
    ['output', 'while True: print("x" * 10**5)', /more than 4194304 bytes of output/],
  ])('is bounded, and says why: %s', async (_, code, words) => {
    await expectBounded(workspace, code, words)
  })

  it.each([['in C', 'sum(range(10**12))']])('an endless loop %s is ended, and nothing else is', async (_, code) => {
    await workspace.write('/workspace/loop.py', `print("begun", flush=True)\nopen("begun", "w").close()\n${code}`)
    await using running = await workspace.spawn('python3 loop.py; echo after')
    await vi.waitUntil(() => workspace.exists('/workspace/begun'), { timeout: 30_000 })
    expect(await run(workspace, 'rm begun; python3 -c "print(2)"')).toBe('2\n')
    expect(running.kill()).toBe(true)
    expect(await running.wait()).toMatchObject({ signal: 'SIGTERM', stdout: 'begun\n' })
  })
})

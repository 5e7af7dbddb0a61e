import { readFile } from 'node:fs/promises'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, readOnly, rules } from '@ws/core'
import { afterAll, describe, expect, it, vi } from 'vitest'

import { createVirtualExecutor } from '../src/index.ts'
import { open, run } from './support.ts'

const workspace = await open({
  at: '/workspace',
  executor: { python: true },
  files: {
    '/show.py': 'import sys\nprint(__name__, sys.argv, sys.stdin.read())\n',
    '/pack/__init__.py': '',
    '/pack/__main__.py': 'import sys\nprint("pack", sys.argv[1:])\n',
    '/fault.py': 'def f():\n    return 1 / 0\nf()\n',
    '/secret': 's3cret',
    '/keep/x': 'kept',
  },
  rules: [rules.deny('secret'), rules.readOnly('keep')],
})
afterAll(() => workspace.close())

describe('[EX1] python3', () => {
  it.each([
    ['-c', 'python3 -c "import sys; print(1 + 1, sys.argv)" a', "2 ['-c', 'a']\n"],
    ['python', 'python -c "import sys; print(sys.version_info[:2])"', '(3, 13)\n'],
    ['a file', 'echo in | python3 show.py a "b c"', "__main__ ['show.py', 'a', 'b c'] in\n\n"],
    ['-m', 'python3 -m pack x', "pack ['x']\n"],
    ['-m of the library', 'echo \'{"b":1}\' | python3 -m json.tool --compact', '{"b":1}\n'],
    ['standard input', 'echo "print(5)" | python3', '5\n'],
    ['a here-document', "python3 - x <<'E'\nimport sys\nprint(sys.argv)\nE", "['-', 'x']\n"],
    ['the status', 'python3 -c "import sys; sys.exit(7)"; echo $?', '7\n'],
    [
      'variables',
      "X=5 python3 -c \"import os; print(os.environ['X'], os.environ['HOME'], len(os.environ) < 14)\"",
      '5 /workspace True\n',
    ],
    [
      'the directory',
      'cd keep && python3 -c "import os; print(os.getcwd(), open(\'x\').read())"',
      '/workspace/keep kept\n',
    ],
    [
      'bytes',
      'python3 -c "import sys; sys.stdout.buffer.write(bytes([0,255,10,13,128]))" | python3 -c "import sys; print(sys.stdin.buffer.read())"',
      "b'\\x00\\xff\\n\\r\\x80'\n",
    ],
    [
      'both outputs in order',
      'python3 -uc "import sys; print(1); print(2, file=sys.stderr); print(3)" 2>&1',
      '1\n2\n3\n',
    ],
    [
      '#!',
      "printf '#!/usr/bin/env python3\\nimport sys\\nprint(sys.argv)\\n' > s.py; chmod +x s.py; ./s.py q",
      "['./s.py', 'q']\n",
    ],
    ['a time limit', 'timeout 1 python3 -c "while True: pass"; echo $?', '124\n'],
    ['xargs', 'echo a b | xargs python3 -c "import sys; print(sys.argv)"', "['-c', 'a', 'b']\n"],
    ['which', 'which python3; command -v python', '/usr/bin/python3\n/usr/bin/python\n'],
    ['the shell sees its files', "python3 -c \"open('n', 'w').write('new')\"; cat n", 'new'],
    [
      'sleep',
      'python3 -c "import time; t = time.monotonic(); time.sleep(0.3); print(0.3 <= time.monotonic() - t < 9)"',
      'True\n',
    ],
  ])('runs %s', async (_, command, output) => {
    expect(await run(workspace, command)).toBe(output)
  })

  it('reads and writes files as CPython does on a disk', async () => {
    const program = await readFile(new URL('python/files.py', import.meta.url), 'utf8')
    await workspace.write('/workspace/files/files.py', program)
    const expected = await readFile(new URL('python/files.txt', import.meta.url), 'utf8')
    expect(await run(workspace, 'cd files && python3 files.py')).toBe(
      expected.replaceAll('/workspace', '/workspace/files'),
    )
  })

  it('shows the paths of the workspace in a traceback', async () => {
    const { exitCode, stderr } = await workspace.exec('python3 fault.py')
    expect({ exitCode, paths: stderr.match(/"[^"]+"/g) }).toEqual({
      exitCode: 1,
      paths: ['"/workspace/fault.py"', '"/workspace/fault.py"'],
    })
    expect(stderr).toContain('ZeroDivisionError: division by zero')
  })

  it('a rule refuses before the program goes on', async () => {
    for (const [code, error] of [
      ['open("secret").read()', 'Permission denied'],
      ['open("secret", "a")', 'Permission denied'],
      ['open("keep/x", "w")', 'Permission denied|Read-only'],
      ['open("keep/x", "a").write("y")', 'Permission denied|Read-only'],
      ['open("keep/x", "r+")', 'Permission denied|Read-only'],
      ['open("keep/n", "x")', 'Permission denied|Read-only'],
      ['__import__("os").rename("keep/x", "y")', 'Permission denied|Read-only'],
      ['__import__("os").unlink("keep/x")', 'Permission denied|Read-only'],
      ['__import__("shutil").copy("secret", "y")', 'Permission denied'],
    ] as const) {
      const { exitCode, stderr } = await workspace.exec(`python3 -c '${code}'`)
      expect({ code, exitCode }).toEqual({ code, exitCode: 1 })
      expect(stderr).toMatch(new RegExp(error))
    }
    expect(await workspace.readText('/workspace/keep/x')).toBe('kept')
  })

  it('goes through the file door: sizes, read-only mounts, links and the audit hold', async () => {
    await using ruled = await createWorkspace({
      mounts: [
        { at: '/workspace', adapter: () => createMemoryAdapter({ files: { '/a': 'a' } }) },
        { at: '/fixed', adapter: () => readOnly(createMemoryAdapter({ files: { '/b': 'b' } })) },
      ],
      rules: [rules.maxFileSize(10)],
      executors: [createVirtualExecutor({ python: true })],
    })
    const seen: string[] = []
    ruled.on('access', ({ operation, path, outcome }) => seen.push(`${operation} ${path} ${outcome}`))
    const code = `import os
os.symlink("/fixed/b", "l")
print(open("l").read())
for path, text in ("l", "x"), ("/fixed/n", "x"), ("big", "y" * 11), ("small", "y" * 10):
    try:
        with open(path, "w") as file: file.write(text)
    except OSError as error: print(path, error.strerror)`
    expect(await run(ruled, `python3 -c '${code}'`)).toBe(
      'b\nl Read-only file system\n/fixed/n Read-only file system\nbig Permission denied\n',
    )
    expect(await ruled.readText('/workspace/small')).toBe('y'.repeat(10))
    expect(seen.join('\n')).toMatch(/write \/fixed\/n [a-z]+/)
  })

  it('a second reader of one standard input is refused', async () => {
    const { exitCode, stderr } = await workspace.exec('{ python3 -c "input()"; cat; } < keep/x')
    expect({ exitCode, stderr }).toEqual({
      exitCode: 126,
      stderr: expect.stringContaining('has read the same standard input'),
    })
  })

  it('without the option there is no python', async () => {
    await using plain = await open()
    expect((await plain.exec('python3 -c 1')).exitCode).toBe(127)
    expect(plain.executor?.lacks).toContain('python3')
    expect(workspace.executor?.lacks).toMatch(/has no git, node.*Its python3 has/)
  })
})

describe('[EX1] files that python3 has open', () => {
  it('a refused write is told at the close, and by no call on another path', async () => {
    await using small = await open({ executor: { python: true }, rules: [rules.maxFileSize(10)] })
    const code = `import os
f = open("big", "w")
f.write("y" * 11)
f.flush()
print(os.path.exists("/file.txt"))
try: f.close()
except OSError as error: print(error.strerror)
fd = os.open("other", os.O_WRONLY | os.O_CREAT)
os.write(fd, b"y" * 11)
print(os.path.exists("/file.txt"))`
    const { exitCode, stdout } = await small.exec('python3 -', { stdin: code })
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: 'True\nPermission denied\nTrue\n' })
  })

  it.each([
    [
      'keeps what another program has changed',
      'r+',
      'f.seek(0); f.write("ONE")',
      'one\ntwo\nthree\n',
      'ONE\ntwo\nthree\n0',
    ],
    ['cuts what it cuts itself', 'r+', 'f.seek(0); f.write("1234"); f.truncate(2)', 'one\ntwo\n', '120'],
    ['makes no file anew that was removed', 'a', 'f.write("end")', undefined, 'FileNotFoundError44'],
    ['makes no file anew that was removed', 'r+', 'f.seek(0); f.write("ONE")', undefined, 'FileNotFoundError44'],
  ])('%s: %s', async (_, mode, change, other, expected) => {
    await using shared = await open({ executor: { python: true }, files: { '/a': 'one\ntwo\n' } })
    const code = `import os, time
f = open("a", "${mode}")
open("ready", "w").close()
while not os.path.exists("go"): time.sleep(0.01)
${change}
try:
    f.close()
    print(0, end="")
except OSError as error: print(type(error).__name__ + str(error.errno), end="")`
    const both = await Promise.all([
      shared.exec('python3 -', { stdin: code, timeout: 60_000 }),
      vi
        .waitUntil(() => shared.exists('ready'), 30_000)
        .then(async () => {
          await (other === undefined ? shared.delete('a') : shared.write('a', other))
          await shared.write('go', '')
        }),
    ])
    const text = (await shared.exists('a')) ? await shared.readText('a') : ''
    expect(text + both[0].stdout).toBe(expected)
  })
})

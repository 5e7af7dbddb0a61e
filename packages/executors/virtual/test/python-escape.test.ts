/** @module-tag all */
import { readFile } from 'node:fs/promises'

import { rules } from '@ws/core'
import { afterAll, describe, expect, it, vi } from 'vitest'

import { expectBounded, open, run } from './support.ts'

const mebibyte = 1024 * 1024
const passwd = await readFile('/etc/passwd', 'utf8')
const canaries = [
  passwd.split('\n')[0] ?? 'root:x:0:0',
  process.cwd(),
  import.meta.dirname,
  'node_modules',
  'WS_CANARY',
  's3cret',
]

const opened = () =>
  open({
    at: '/workspace',
    executor: { python: true, limits: { maxOutputBytes: 4 * mebibyte, maxMemory: 128 * mebibyte } },
    files: { '/secret': 's3cret', '/keep/x': 'kept' },
    rules: [rules.deny('secret'), rules.readOnly('keep')],
  })

const workspace = await opened()
afterAll(() => workspace.close())

/** Runs each line of standard input alone, and goes on after an error. */
const eachLine = `import sys
for line in sys.stdin.read().splitlines():
    try: exec(line)
    except BaseException as error: print(line, repr(error))`

describe('[EX1] out of python', () => {
  it('shows nothing of the machine', async () => {
    process.env.WS_CANARY = 'WS_CANARY'
    const lines = [
      'for p in ["/etc/passwd", "/proc/self/environ", "/proc/self/maps", "../../../etc/passwd", "/dev/mem", "/dev/fd/../../etc/passwd"]: print(open(p).read())',
      'print(open("/etc/passwd").read())',
      'print(open("../etc/passwd").read())',
      'print(open("/usr/lib/../../etc/passwd").read())',
      'print(open("/usr/lib/python3.13/../../../etc/passwd").read())',
      `print(open(${JSON.stringify(`${process.cwd()}/package.json`)}).read())`,
      'print(open("/proc/self/root/etc/passwd").read())',
      'import os; os.symlink("/etc/passwd", "l"); print(open("l").read())',
      'import os; os.symlink("../../etc", "m"); print(os.listdir("m"), open("m/passwd").read())',
      'import os; print(os.listdir("/"), os.listdir("/usr"), os.listdir("/etc"))',
      'import os; print(dict(os.environ), os.uname(), os.getpid(), os.getlogin())',
      'import sys; print(sys.path, sys.executable, sys.prefix, sys._emscripten_info)',
      'print(open("secret").read())',
      'import os; os.rename("secret", "s2"); print(open("s2").read())',
      'import os; os.symlink("secret", "s3"); print(open("s3").read())',
      'import shutil; shutil.copytree(".", "copy"); print(open("copy/secret").read())',
      'import os; os.open("keep/x", os.O_WRONLY | os.O_TRUNC)',
      'import os; os.truncate("keep/x", 0)',
      'import os; os.symlink("keep/x", "k"); open("k", "w").write("over")',
      'import os; os.chmod("keep/x", 0); os.utime("keep/x", (1, 1)); os.rename("keep", "k2")',
      'open("/usr/lib/python3.13/os.pyc", "w")',
      'open("/bin/ls", "w")',
      'open("/etc/new", "w")',
      'import ctypes; ctypes.CDLL(None)',
      'import js',
      'import pyodide_js',
      'import jb_http',
      'import _emscripten',
      'import mmap; mmap.mmap(open("file.txt").fileno(), 4096)',
      'import os; os.execv("/bin/sh", ["sh", "-c", "cat /etc/passwd"])',
      'import os; os.fork()',
      'import os; os.posix_spawn("/bin/sh", ["sh"], {})',
      'import os; os.pipe()',
      'import pty; pty.spawn("/bin/sh")',
      'import os; print(os.system("cat /etc/passwd"))',
      'import subprocess; subprocess.run(["cat", "/etc/passwd"])',
      'import subprocess; subprocess.getoutput("cat /etc/passwd")',
      'import multiprocessing as m; m.Process(target=print).start()',
      'import threading; threading.Thread(target=print).start()',
      'from concurrent.futures import ThreadPoolExecutor as T; T().submit(print).result()',
    ]
    const { stdout, stderr, exitCode } = await workspace.exec(`python3 -c '${eachLine}'`, { stdin: lines.join('\n') })
    delete process.env.WS_CANARY
    // `os.system` did nothing, so the program has failed
    expect(exitCode, stderr).toBe(126)
    // the lines themselves name what they look for
    const said = lines.reduce((text, line) => text.replaceAll(line, ''), `${stdout}${stderr}`)
    for (const canary of canaries) expect(said).not.toContain(canary)
    expect(await readFile('/etc/passwd', 'utf8')).toBe(passwd)
    expect(await workspace.readText('/workspace/keep/x')).toBe('kept')
    for (const line of lines.slice(12)) if (!/os\.system/.test(line)) expect(stdout, line).toContain(line)
  })

  it('there is no network', async () => {
    for (const code of [
      'import socket; socket.socket()',
      'import socket; socket.create_connection(("127.0.0.1", 80))',
      'import socket; print(socket.gethostbyname("localhost"))',
      'import urllib.request as u; u.urlopen("http://127.0.0.1/")',
      'import urllib.request as u; u.urlopen("https://example.org/")',
      'import http.client as h; h.HTTPConnection("127.0.0.1").request("GET", "/")',
    ]) {
      const { exitCode, stderr } = await workspace.exec(`python3 -c '${code}'`)
      expect({ code, exitCode }).toEqual({ code, exitCode: 1 })
      expect(stderr).toContain('this python has its standard library alone')
    }
  })

  it.each([
    ['a list', 'a = []\nwhile True: a.append(bytearray(10**6))', /more than 134217728 bytes of memory/],
    ['small things', 'a = []\nwhile True: a.append(str(len(a)))', /more than 134217728 bytes of memory/],
    ['one file', 'open("f", "w").truncate(10**9)', /File too large/],
    ['recursion', 'def f(n): return f(n + 1)\nf(0)', /maximum recursion depth exceeded/],
    ['recursion in C', 'a = []\nfor i in range(10**5): a = [a]\nrepr(a)', /maximum recursion depth exceeded/],
    ['nested text', 'eval("(" * 10**5)', /too many nested parentheses|MemoryError|SyntaxError/],
    ['an abort', 'import os; os.abort()', /the program was aborted/],
  ])('more that is bounded, and says why: %s', async (_, code, words) => {
    await expectBounded(workspace, code, words)
  })

  it.each([
    ['in python', 'while True: pass'],
    ['that catches everything', 'while True:\n  try:\n    while True: pass\n  except BaseException: pass'],
    ['of one number', '10**10**9'],
    ['of an expression', 'import re; re.match("(a*)*b", "a" * 40)'],
    ['without limit of depth', 'import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1)\nf(0)'],
    ['asleep', 'import time; time.sleep(10**6)'],
  ])('an endless loop %s is ended, and nothing else is', async (_, code) => {
    await workspace.write('/workspace/loop.py', `print("begun", flush=True)\nopen("begun", "w").close()\n${code}`)
    await using running = await workspace.spawn('python3 loop.py; echo after')
    await vi.waitUntil(() => workspace.exists('/workspace/begun'), { timeout: 30_000 })
    expect(await run(workspace, 'rm begun; python3 -c "print(2)"')).toBe('2\n')
    expect(running.kill()).toBe(true)
    expect(await running.wait()).toMatchObject({ signal: 'SIGTERM', stdout: 'begun\n' })
  })

  it('several programs run at once, and a program ends with its workspace', async () => {
    const sums = [1, 2, 3, 4, 5].map((n) => run(workspace, `python3 -c "print(sum(range(${n}00000)))" | cat`))
    expect(await Promise.all(sums)).toEqual([1, 2, 3, 4, 5].map((n) => `${(n * 1e5 * (n * 1e5 - 1)) / 2}\n`))
    const other = await opened()
    await using running = await other.spawn("python3 -c \"open('begun', 'w').close()\nwhile True: pass\"")
    await vi.waitUntil(() => other.exists('/workspace/begun'), { timeout: 30_000 })
    await other.close()
    expect(await running.wait().catch(() => ({ exitCode: null }))).toMatchObject({ exitCode: null })
  })
})

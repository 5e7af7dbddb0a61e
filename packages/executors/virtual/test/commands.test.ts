import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { guaranteeFields } from '@ws/core/executor'
import { codeOf } from '@ws/test-fixtures'
import { describe, expect, it, vi } from 'vitest'

import { createVirtualExecutor } from '../src/index.ts'
import { open, run, shown } from './support.ts'

describe('commands', () => {
  it('are available everywhere, and hold every guarantee in the interpreter', async () => {
    const executor = createVirtualExecutor()
    const { available, guarantees, missing } = await executor.probe()
    expect({ name: executor.name, kind: executor.kind, available, missing }).toEqual({
      name: 'virtual',
      kind: 'interpreter',
      available: true,
      missing: [],
    })
    for (const field of guaranteeFields) expect(guarantees[field], field).toBe('interpreter')
    await using workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
      executors: [executor],
      require: 'untrusted',
    })
    expect((await workspace.exec('echo ran')).executor).toBe('virtual')
  })

  it.each(['bun', 'deno'])('are not available on %s, where the interpreter would fail or be open', async (name) => {
    const versions = vi.spyOn(process, 'versions', 'get').mockReturnValue({ ...process.versions, [name]: '1.4.5' })
    try {
      const { available, guarantees, howToFix } = await createVirtualExecutor().probe()
      expect({ available, fileContent: guarantees.fileContent }).toEqual({ available: false, fileContent: 'none' })
      expect(howToFix).toEqual(['run this program with Node 22.18 or newer'])
    } finally {
      versions.mockRestore()
    }
  })

  it('give both streams, the exit code and the bytes', async () => {
    await using workspace = await open()
    const result = await workspace.exec('echo out; echo err >&2; exit 3')
    expect(result).toMatchObject({
      exitCode: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      stdoutBytes: 4,
      stderrBytes: 4,
      timedOut: false,
      truncated: false,
    })
  })

  it('[RP9] start in the root with HOME, PWD and USER, and in `cwd` when it is given', async () => {
    await using workspace = await open({ at: '/workspace', files: { '/src/x': '' } })
    expect(await run(workspace, 'echo "$HOME $PWD $(pwd) $USER"')).toBe('/workspace /workspace /workspace user\n')
    expect((await workspace.exec('pwd; echo $PWD', { cwd: 'src' })).stdout).toBe('/workspace/src\n/workspace/src\n')
  })

  it('[RP16] get a clean environment and what the caller adds', async () => {
    process.env.WS_TEST_SECRET = 'do-not-leak'
    try {
      await using workspace = await open()
      const { stdout } = await workspace.exec('env; set; export -p; cat /proc/self/environ', { env: { MINE: 'yes' } })
      expect(stdout).toContain('MINE=yes')
      expect(stdout).not.toContain('do-not-leak')
      expect(stdout).not.toContain('WS_TEST_SECRET')
    } finally {
      delete process.env.WS_TEST_SECRET
    }
  })

  it.each([
    ['text', 'one\ntwö\n'],
    ['bytes', new TextEncoder().encode('one\ntwö\n')],
    [
      'chunks',
      (async function* () {
        yield new TextEncoder().encode('one\n')
        yield new TextEncoder().encode('twö\n')
      })(),
    ],
  ])('read standard input as %s', async (_, stdin) => {
    await using workspace = await open()
    const result = await workspace.exec('read first; echo "1 $first"; cat; wc -c < /file.txt', { stdin })
    expect(result.stdout).toBe('1 one\ntwö\n7\n')
  })

  it('without standard input read its end at once', async () => {
    await using workspace = await open()
    expect(shown(await workspace.exec('cat; read x; echo $?'))).toEqual({ exitCode: 0, stdout: '1\n', stderr: '' })
  })

  it('stream their output', async () => {
    await using workspace = await open()
    await using running = await workspace.spawn('echo out; echo err >&2')
    const text = async (stream: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(stream)).toString()
    expect(await Promise.all([text(running.stdout), text(running.stderr)])).toEqual(['out\n', 'err\n'])
    expect((await running.wait()).stdout).toBe('out\n')
    expect(running.kill()).toBe(false)
  })

  it('keep the head and the tail of more output than was asked for', async () => {
    await using workspace = await open()
    const result = await workspace.exec('echo HEAD; seq 1 20000; echo TAIL', { maxOutputBytes: 1000 })
    expect(result.truncated).toBe(true)
    expect(result.stdout).toMatch(/^HEAD\n1\n.*bytes omitted.*TAIL\n$/s)
    expect(result.stdout.length).toBeLessThan(1100)
    expect(result.stdoutBytes).toBe(108_904)
  })

  it('are taken as they are: leading blanks, here-documents and several lines', async () => {
    await using workspace = await open()
    expect(await run(workspace, 'cat <<END\n  two blanks\n\tand a tab\nEND\nif true; then\n  echo yes\nfi')).toBe(
      '  two blanks\n\tand a tab\nyes\n',
    )
    expect((await workspace.exec(['printf', '%s|', 'a b', "it's", '$HOME', ''])).stdout).toBe("a b|it's|$HOME||")
  })

  it('[LS7] take bash and sh for their shell, and say so about others', async () => {
    await using workspace = await open()
    for (const shell of ['bash', 'sh', '/bin/bash', '/usr/bin/sh', '/bin/sh']) {
      expect((await workspace.exec('echo $SHELL', { shell })).stdout, shell).toMatch(/\/(?:bash|sh)\n$/)
    }
    for (const shell of ['zsh', '/usr/bin/fish', 'dash']) {
      expect(await codeOf(workspace.exec('true', { shell })), shell).toBe('ENOEXEC')
    }
    for (const shell of ['/bin/false', 'python3', '../sh']) {
      expect(await codeOf(workspace.exec('true', { shell })), shell).toBe('EINVAL')
    }
  })

  it('run several at a time, each in a shell of its own, and more than there are threads', async () => {
    await using workspace = await open({ executor: { concurrency: 2 } })
    const results = await Promise.all(
      Array.from({ length: 9 }, (_, index) =>
        workspace.exec(`x=${index}; mkdir d${index}; cd d${index}; sleep 0.02; echo $x > f; echo "$x $PWD"`),
      ),
    )
    expect(results.map(({ stdout }) => stdout)).toEqual(results.map((_, index) => `${index} /d${index}\n`))
    expect(await workspace.readText('/d8/f')).toBe('8\n')
  })

  it('share nothing but the files', async () => {
    await using workspace = await open({ executor: { concurrency: 1 } })
    await run(workspace, 'leak=1; export leak; cd /tmp; f() { echo leaked; }; alias g=f; echo kept > /kept; hash -r')
    const result = await workspace.exec('echo "[$leak]" $PWD; f || cat /kept')
    expect(result.stdout).toBe('[] /\nkept\n')
    expect(result.stderr).toContain('f: command not found')
  })

  it('what is not there is not found, with 127', async () => {
    await using workspace = await open()
    for (const program of ['git', 'node', 'python3', 'make', 'curl', 'npm', 'perl']) {
      const result = await workspace.exec(`${program} --version`)
      expect(result.exitCode, program).toBe(127)
      expect(result.stderr, program).toContain(program)
    }
  })

  it('a syntax error is a non-zero exit with words', async () => {
    await using workspace = await open()
    const result = await workspace.exec('if then')
    expect(result.exitCode).toBe(2)
    expect(result.stderr).toContain('syntax error')
  })

  it.each([
    [{ concurrency: 0 }, 'concurrency'],
    [{ limits: { maxComands: 1 } }, 'limits.maxComands'],
    [{ limits: { maxMemory: 10 } }, 'maxMemory'],
    [{ network: true }, 'network'],
  ])('options without a meaning are EINVAL: %j', (options, named) => {
    expect(() => createVirtualExecutor(options as object)).toThrow(named)
    expect(() => createVirtualExecutor(options as object)).toThrow(/EINVAL/)
  })
})
